#!/bin/sh
# Updates a box: hears the bell, polls, downloads, polls again, activates and reports. README.md says how to use it.
set -u
: "${API:?}" "${BOX:?}" "${FOLDER:=/var/lib/wavegate}" "${HOOKS:=/etc/wavegate}" "${BELL_VIA:=}" "${MINUTE:=60}"
cd "$FOLDER" && touch tries activating || exit 1
never=4102444800 door='' missed=0 away=0 tag='' bell='' call='' sound='' ring_tag='' interval=300 unheard=0 failed=0
later() { # SECONDS MORE: the time in SECONDS, varied by a tenth, plus a random part of MORE
	awk -v t="$(date +%s)" -v s="$1" -v m="$2" -v unit="$MINUTE" -v r="$(od -An -N2 -tu2 /dev/urandom)" \
		'BEGIN { r /= 65536; printf "%d", t + (s * (0.9 + 0.2 * r) + m * r) * unit / 60 + 0.5 }'; }
by() { [ "$next" -le "$1" ] || next=$1; } # makes the next poll come by that time
get() { jq -r "$1 // empty" "$2"; }
header() { awk -v h="$1:" 'tolower($1) == h { sub(/\r$/, ""); sub(/^[^:]*: */, ""); print }' head; }
good() { sha256sum "artifact.$sum" 2>/dev/null | grep -q "^$sum"; } # the file exists and has the digest
ask() { curl -sS -m 30 -D head -o body -w '%{http_code}' "$@"; } # prints the status
api() { printf 'header = "Authorization: %s"\n' "$("$HOOKS/authorization")" | ask -K - "$@"; }
report() { # CODE; empty: the update was put off. The answer says when the next attempt may begin
	jq -n --arg v "$version" --arg r "$(get .rolloutId told)" --arg c "$1" --argjson n $((tries + 1)) '{version: $v, attempt: $n} +
		if $r == "" then {} else {rolloutId: $r} end + if $c == "" then {outcome: "deferred"} else {outcome: "failed", code: $c} end' >report
	[ "$(api -X PUT -H 'Content-Type: application/json' --data-binary @report "$url/report")" = 200 ] || { by "$(later 60 0)" && return; }
	after=$(($(date +%s) + $(jq 'if .retry == false then 1e8 else .retryAfterSeconds end | floor' body)))
	[ -z "$1" ] || tries=$((tries + 1)) # an attempt that was put off does not count
	echo "$offer $tries $after" >tries && by $after
}
poll() { # succeeds if the answer says what to run
	runs=$("$HOOKS/installed") base=$API
	[ -z "$door" ] || [ "$(date +%s)" -lt "$away" ] || base=$door
	url=$base/api/edges/$BOX/update
	case $(api -G -d bell=true --data-urlencode "installed=$runs" -H "If-None-Match: $tag" "$url/manifest") in
	304) ;; 200) mv body told && tag=$(header etag) ;;
	*) [ "$base" = "$API" ] || missed=$((missed + 1))
		[ $missed -lt 2 ] || { missed=0 && away=$(later 3600 0); } # the door is full or gone
		next=$(later $((60 << failed)) 60) && failed=$((failed < 3 ? failed + 1 : 3)) && return 1 ;;
	esac
	failed=0 missed=0 door=$(get .door told) version=$(get .version told) sum=$(get .sha256 told) next=$(later "$(get .pollIntervalSeconds told)" 0)
	[ $unheard -lt 10 ] || by "$(later 3600 0)"
	[ "$bell $call" = "$(get .bell.url told) $(get .bell.call told)" ] || { sound='' ring_tag='' unheard=0 ring=0; }
	bell=$(get .bell.url told) call=$(get .bell.call told) && [ -n "$bell" ] || ring=$never
	[ -n "$tag" ] || { by "$(later 60 0)" && return 1; } # the service could not record the poll
}
update() { # does what the latest poll told
	[ "$version" != "$runs" ] || { rm -f artifact.* && : >activating && return; }
	offer=$version/$(get .rolloutId told) tries=0 after=0 && read -r last n t <tries && [ "$last" = "$offer" ] && tries=$n after=$t
	[ "$(cat activating)" != "$version" ] || { : >activating && report boot && return; } # it fell back
	[ "$(date +%s)" -ge "$after" ] || { by "$after" && return; }
	if good; then
		echo "$version" >activating && sync && "$HOOKS/activate" "$version" "$PWD/artifact.$sum"
		case $? in 0) next=$(later 4 3) ;; 75) report '' ;; *) report install ;; esac; : >activating
	else
		curl -sSf -L -m 900 -C - -o "artifact.$sum" "$(get .artifactUrl told)" && { good || (exit 99); }
		case $? in 0 | 28) next=0 && return ;; 99) code=checksum ;; 23) code=space ;; *) code=download ;; esac # 28: it took too long
		rm -f artifact.* && report "$code"
	fi
}
listen() {
	case $(ask -H "If-None-Match: $ring_tag" "${BELL_VIA:-${bell%"/${bell#*://*/}"}}/${bell#*://*/}") in
	200) jq -e --arg s "$sound" --arg c "$call" '.sound == $s and (.calls | index($c) | not)' body >/dev/null || by "$(later 4 3)"
		sound=$(get .sound body) ring_tag=$(header etag) interval=$(get .intervalSeconds body) unheard=0 ;;
	304) interval=$(header wavegate-interval) unheard=0 ;;
	*) unheard=$((unheard + 1)); [ $unheard != 10 ] || by "$(later 0 3600)" ;;
	esac
	[ "$interval" -ge 10 ] 2>/dev/null || interval=300; ring=$(later "$interval" 0)
}
next=$(later 3 57) ring=$never; while t=$(date +%s); do
	if [ "$t" -ge "$next" ]; then poll && update; elif [ "$t" -ge "$ring" ]; then listen; else sleep $(((ring < next ? ring : next) - t)); fi; done
