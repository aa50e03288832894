import type { NodeFinding } from '../../../../shared/domain/node-findings.ts'
import type { TextKey, Translate } from '../../i18n/text.ts'

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
export function reasonText(reason: string, t: Translate): string {
  for (const [pattern, key] of reasons) {
    const found = pattern.exec(reason)
    if (found !== null) return t(key, { ...found.groups })
  }
  return reason
}

/** Translates a finding of a test. */
export function findingText({ code, values }: NodeFinding, t: Translate): string {
  const { reason = '', plugin = '' } = values
  return t(`nodeFindings.${code}`, { ...values, plugin, reason: reasonText(reason, t) })
}
