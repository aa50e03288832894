import {
  findingSeverities,
  type FindingSeverity,
  type NodeFinding,
  type NodeFindingCode,
  nodeFindingCodes,
} from '../../../../shared/domain/node-findings.ts'
import { fill } from '../../../../shared/refusals/template.ts'
import sentences from '../../../../texts/en/console/nodeFindings.json' with { type: 'json' }

/** Severities other than `error`. */
const severities: Partial<Record<NodeFindingCode, FindingSeverity>> = {
  tokenAuthOff: 'unsafe',
  adminOpen: 'unsafe',
  roomsCreatable: 'unsafe',
  camerasCreatable: 'unsafe',
  forwardingOpen: 'unsafe',
  recordingOpen: 'unsafe',
  roomOpen: 'unsafe',
  roomsUnguarded: 'unsafe',
  adminUnused: 'unsafe',
  clockAhead: 'notice',
  clockBehind: 'notice',
  eventsOff: 'notice',
  reclaimOff: 'notice',
  roomsListed: 'notice',
  dependenciesShown: 'notice',
  pluginsUnused: 'notice',
}

/** Findings about one node, without duplicates. */
export class JanusFindings {
  readonly #found: NodeFinding[] = []

  /** @param severity overrides the default of the code */
  add(code: NodeFindingCode, values: Readonly<Record<string, string>> = {}, severity?: FindingSeverity): void {
    const message = fill(sentences[code], values)
    if (this.#found.some((finding) => finding.message === message)) return
    this.#found.push({ code, severity: severity ?? severities[code] ?? 'error', message, values: { ...values } })
  }

  has(code: NodeFindingCode): boolean {
    return this.#found.some((finding) => finding.code === code)
  }

  /** Findings by severity, the most severe first, and then in the order of `nodeFindingCodes`. */
  get sorted(): NodeFinding[] {
    const rank = ({ severity, code }: NodeFinding): number =>
      findingSeverities.indexOf(severity) * nodeFindingCodes.length + nodeFindingCodes.indexOf(code)
    return this.#found.toSorted((one, other) => rank(one) - rank(other))
  }
}
