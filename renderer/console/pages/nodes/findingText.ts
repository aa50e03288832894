import type { NodeFinding } from '../../../../shared/console/node-findings.ts'
import type { TextKey, Translate } from '../../i18n/text.ts'

/** Reasons in the controller's sentences. */
const reasons: Readonly<Record<string, TextKey>> = {
  'the port is closed': 'nodes.reasons.closed',
  'the name is unknown': 'nodes.reasons.unknownName',
  'there is no way to it': 'nodes.reasons.noWay',
  'no answer in time': 'nodes.reasons.late',
  'another answer than that of Janus': 'nodes.reasons.notJanus',
}

/** Translates a finding of a test. */
export function findingText({ code, values }: NodeFinding, t: Translate): string {
  const { reason = '' } = values
  const known = reasons[reason]
  const plugin = values.plugin ?? ''
  return t(`nodes.findings.${code}`, { ...values, plugin, reason: known === undefined ? reason : t(known) })
}
