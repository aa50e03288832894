import {
  findingSeverities,
  type FindingSeverity,
  type NodeFinding,
  type NodeFindingCode,
  nodeFindingSentences,
} from '../../../../shared/domain/node-findings.ts'

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

const order = Object.keys(nodeFindingSentences)

/** Findings about one node, without duplicates. */
export class JanusFindings {
  readonly #found: NodeFinding[] = []

  /** @param severity overrides the default of the code */
  add(code: NodeFindingCode, values: Readonly<Record<string, string>> = {}, severity?: FindingSeverity): void {
    const message = nodeFindingSentences[code].replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
    if (this.#found.some((finding) => finding.message === message)) return
    this.#found.push({ code, severity: severity ?? severities[code] ?? 'error', message, values: { ...values } })
  }

  has(code: NodeFindingCode): boolean {
    return this.#found.some((finding) => finding.code === code)
  }

  /** Findings by severity, the most severe first, and then in the order of `nodeFindingSentences`. */
  get sorted(): NodeFinding[] {
    const rank = ({ severity, code }: NodeFinding): number =>
      findingSeverities.indexOf(severity) * order.length + order.indexOf(code)
    return this.#found.toSorted((one, other) => rank(one) - rank(other))
  }
}
