# What a script needs to work on a deployed stage; the script sources this file.
# shellcheck shell=sh

if ! command -v aws >/dev/null; then
	echo "$0: there is no aws. Install the AWS CLI: https://aws.amazon.com/cli" >&2
	exit 1
fi

# stage_of prints the stage that the arguments name.
stage_of() {
	previous=
	for argument in "$@"; do
		[ "$previous" != --stage ] || echo "$argument"
		previous=$argument
	done
}

# credentials gives the programs that follow the user's credentials and region.
credentials() {
	if [ -z "${AWS_ACCESS_KEY_ID:-}" ]; then # those in the environment are taken as they are
		found=$(aws configure export-credentials --format env)
		eval "$found"
	fi
	AWS_REGION=${AWS_REGION:-$(aws configure get region)}
	export AWS_REGION
}
