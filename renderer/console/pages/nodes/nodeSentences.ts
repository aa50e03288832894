import type { TextKey, Translate } from '../../i18n/text.ts'
import type { NodeFinding } from '../../../../shared/domain/node-findings.ts'
import { type RefusalName, refusals } from '../../../../shared/refusals/refusal.ts'
import { placeholders } from '../../../../shared/refusals/template.ts'
import { refusalText } from '../../composables/useFeedback.ts'

/** Keys of the controller's sentences about a node, by pattern, with the names of the captured groups. */
const known: readonly (readonly [pattern: RegExp, key: TextKey, ...quoted: string[]])[] = [
  [/^The node did not answer within ([\d.]+) s\.$/, 'nodes.sentences.silent', 'seconds'],
  [/there is no driver for nodes of kind (\w+) here/, 'nodes.sentences.noDriver', 'kind'],
  [/the node port is closed/, 'nodes.sentences.portClosed'],
  [/the node was taken out of service/, 'nodes.sentences.outOfService'],
  [/^The connection to the node failed: (?:it does not run|it was stopped)\.$/, 'nodes.sentences.notRunning'],
  [/^The connection to the node failed: (.+?)\.$/, 'nodes.sentences.connection', 'reason'],
  [/^The node refused: (.+?)\.$/, 'nodes.sentences.refused', 'reason'],
  [/^The node failed in an unexpected way/, 'nodes.sentences.unexpected'],
  [/^The node answers: (\d+) rooms, (\d+) users\.$/, 'nodes.sentences.answers', 'rooms', 'users'],
]

/** Translates a controller's sentence about a node; an unknown sentence is returned unchanged. */
export function nodeSentence(message: string, t: Translate): string {
  const port = /^The connection to the node failed: (Port \d+ on .+\.)$/.exec(message)?.[1]
  if (port !== undefined) return storedSentence(port, t)
  for (const [pattern, key, ...quoted] of known) {
    const found = pattern.exec(message)
    if (found === null) continue
    const values = quoted.map((name, index) => [name, reasonText(found[index + 1] ?? '', t)])
    return t(key, Object.fromEntries(values) as Record<string, string>)
  }
  return message
}

/** Keys of reasons within the controller's sentences, by pattern. The text of a group named `code` is kept. */
const reasons: readonly (readonly [pattern: RegExp, key: TextKey])[] = [
  [/^the port is closed$|\bECONNREFUSED\b/, 'nodes.reasons.closed'],
  [/^the name is unknown$|\b(?:ENOTFOUND|EAI_AGAIN)\b/, 'nodes.reasons.unknownName'],
  [/^there is no route to it$|\b(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)\b/, 'nodes.reasons.noWay'],
  [/^no answer in time$|\bETIMEDOUT\b/, 'nodes.reasons.late'],
  [/^another answer than that of Janus$/, 'nodes.reasons.notJanus'],
  [/^its certificate is not trusted: (?<code>\w+)$/, 'nodes.reasons.untrusted'],
  [/^its admin_url is missing\b/, 'nodes.reasons.noAdminUrl'],
  [/^it was added by an older version\b/, 'nodes.reasons.older'],
  [/^the connection to the node was lost$|\bECONNRESET\b/, 'nodes.reasons.lost'],
]

/** Translates a reason within a controller's sentence; an unknown reason is returned unchanged. */
function reasonText(reason: string, t: Translate): string {
  for (const [pattern, key] of reasons) {
    const found = pattern.exec(reason)
    if (found !== null) return t(key, { ...found.groups })
  }
  return reason
}

export function findingText({ code, values }: NodeFinding, t: Translate): string {
  const { reason = '', plugin = '' } = values
  return t(`nodeFindings.${code}`, { ...values, plugin, reason: reasonText(reason, t) })
}

/** Refusals that the event log and the states of nodes store as English text: ports and certificates. */
const stored = [
  ...(['portTaken', 'portOwn', 'portHeld', 'portTwice', 'portForbidden', 'hostNotOwn', 'portUnusable'] as const),
  ...(['pemMissing', 'pemNotFound', 'pemUnreadable', 'notCertificate', 'notPrivateKey', 'keyOfOther'] as const),
  ...(['certificateWeak', 'certificateUnusable'] as const),
] satisfies RefusalName[]

const patterns = stored.map((name) => [name, patternOf(refusals[name][1])] as const)

/** Translates a stored English message of the controller; an unknown one stays. */
export function storedSentence(message: string, t: Translate): string {
  for (const [name, pattern] of patterns) {
    const found = pattern.exec(message)
    if (found !== null) return refusalText({ message, name, values: { ...found.groups } }, t)
  }
  return message
}

function patternOf(sentence: string): RegExp {
  const literal = sentence.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  const pattern = placeholders(sentence).reduce((text, name) => text.replace(`{${name}}`, `(?<${name}>.+?)`), literal)
  return new RegExp(`^(?:[a-z_.]+: )?${pattern}$`)
}
