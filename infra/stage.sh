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

# credentials exports the user's credentials and region for the programs that follow.
credentials() {
	if [ -z "${AWS_ACCESS_KEY_ID:-}" ]; then # otherwise the environment has them
		found=$(aws configure export-credentials --format env)
		eval "$found"
	fi
	AWS_REGION=${AWS_REGION:-$(aws configure get region)}
	export AWS_REGION
}
