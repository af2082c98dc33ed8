# Functions for scripts that work on a deployment; the script sources this file.
# shellcheck shell=sh

if ! command -v aws >/dev/null; then
	echo "$0: there is no aws. Install the AWS CLI: https://aws.amazon.com/cli" >&2
	exit 1
fi

# stage_of prints the value of --stage in the arguments.
stage_of() {
	previous=
	for argument in "$@"; do
		[ "$previous" != --stage ] || echo "$argument"
		previous=$argument
	done
}

# context_of prints a value of CDK's context in the arguments: --context name=value.
context_of() {
	wanted=$1
	shift
	for argument in "$@"; do
		argument=${argument#--context=}
		case $argument in "$wanted="*) echo "${argument#*=}" ;; esac
	done
}

# form_of prints the form of a deployment's stored data: 3, the first release's, if it has no number, or there is no data yet.
form_of() {
	if ! table=$(aws ssm get-parameter --name "/wavegate/$1/tables/progress" --query Parameter.Value --output text 2>&1); then
		case $table in *ParameterNotFound*) echo 3 && return ;; esac
		echo "$table" >&2
		return 1
	fi
	number=$(aws dynamodb get-item --table-name "$table" --key '{"subject":{"S":"data"},"part":{"S":"form"}}' --consistent-read --query Item.form.N --output text)
	case $number in None) echo 3 ;; *) echo "$number" ;; esac
}

# credentials exports the user's credentials and region for the programs that follow.
credentials() {
	if [ -z "${AWS_ACCESS_KEY_ID:-}" ]; then # otherwise the environment has them
		found=$(aws configure export-credentials --format env)
		eval "$found"
	fi
	AWS_REGION=${AWS_REGION:-$(aws configure get region)}
	export AWS_REGION
}

# platform_of_host prints the system and processor of this machine, as releases name them.
platform_of_host() {
	echo "$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')"
}

# program prints the path of a program: that of the release in whose package this file is, or one built from the source.
program() {
	shipped=artifacts/$1-$(platform_of_host)
	if [ -x "$shipped" ]; then
		echo "$shipped"
		return
	fi
	mkdir -p .dev
	go build -o ".dev/$1" "$2"
	echo ".dev/$1"
}
