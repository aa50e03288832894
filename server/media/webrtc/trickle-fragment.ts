import { Problem } from '../base/problem.ts'
import type { IceCredentials } from './stun.ts'

/** A client's message about its ICE session after the offer (RFC 8840, section 9). */
export interface TrickleFragment {
  /** User fragment of the client; empty: the message has none. */
  userFragment: string
  password: string
  candidates: { candidate: string; mid: string }[]
}

/** Any line of a session description (RFC 8866, section 5). */
const anyLine = /^[a-z]=\S/
/**
 * Candidate line (RFC 8839, section 5.1). Host names are valid addresses, and the library parses the text after the
 * type.
 */
const candidateLine =
  /^candidate:[A-Za-z0-9+/]{1,32} (?:[1-9]\d{0,2}) \S{1,16} \d{1,10} [A-Za-z0-9.:_%-]{1,255} (\d{1,5}) typ [a-z]{1,16}(?: |$)/
/** `ice-ufrag` (RFC 8839, section 5.4) without its minimum length. */
const userFragmentText = /^[A-Za-z0-9+/]{1,256}$/

/**
 * Parses a fragment.
 * @param mids mids of the offer; candidates before the first `a=mid` line belong to the first mid
 * @throws Problem badRequest
 */
export function parseFragment(text: string, mids: readonly string[]): TrickleFragment {
  const lines = text.split(/\r?\n/).filter((line) => line !== '')
  if (lines.length === 0) throw broken('is empty')
  const fragment: TrickleFragment = { userFragment: '', password: '', candidates: [] }
  let mid = mids[0] ?? '0'
  for (const line of lines) {
    if (!anyLine.test(line)) throw broken('has a line that is none of a session description')
    if (line.startsWith('a=mid:')) {
      mid = line.slice(6).trim()
      if (!mids.includes(mid)) throw broken('names a media section that the offer has not')
    } else if (line.startsWith('a=ice-ufrag:')) {
      fragment.userFragment = line.slice(12).trim()
      if (!userFragmentText.test(fragment.userFragment)) throw broken('has an ice-ufrag that is none')
    } else if (line.startsWith('a=ice-pwd:')) fragment.password = line.slice(10).trim()
    else if (line.startsWith('a=candidate:')) fragment.candidates.push({ candidate: candidateOf(line), mid })
  }
  return fragment
}

/** `ice-pwd` (RFC 8839, section 5.4). */
const passwordText = /^[A-Za-z0-9+/]{22,256}$/

/** Validates credentials that begin an ICE session. @throws Problem badRequest */
export function checkedCredentials(userFragment: string, password: string): IceCredentials {
  if (userFragment.length < 4) throw broken('has an ice-ufrag that is too short')
  if (!passwordText.test(password)) throw broken('restarts ICE without a valid ice-pwd')
  return { userFragment, password }
}

/** Builds a fragment with the node's credentials and candidates in an ICE session. */
export function fragmentText(
  { userFragment, password }: IceCredentials,
  [mid = '0']: readonly string[],
  candidates: readonly string[],
): string {
  return [
    `a=ice-ufrag:${userFragment}`,
    `a=ice-pwd:${password}`,
    // The kind and formats of this line have no meaning here (RFC 8840, section 9.1).
    'm=audio 9 UDP/TLS/RTP/SAVPF 0',
    `a=mid:${mid}`,
    ...candidates.map((candidate) => `a=${candidate}`),
    'a=end-of-candidates',
    '',
  ].join('\r\n')
}

function candidateOf(line: string): string {
  const candidate = line.slice(2)
  const match = candidateLine.exec(candidate)
  if (match === null || Number(match[1]) > 65_535) throw broken('has a candidate that is none')
  return candidate
}

function broken(what: string): Problem {
  return new Problem('badRequest', `The fragment ${what}.`)
}
