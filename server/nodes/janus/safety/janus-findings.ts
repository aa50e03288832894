import {
  findingSeverities,
  type FindingSeverity,
  type NodeFinding,
  type NodeFindingCode,
  nodeFindingSentences,
} from '../../../../shared/domain/node-findings.ts'

/** Those that are not errors. */
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

/** Findings about one node, each once. */
export class Findings {
  readonly #found: NodeFinding[] = []

  /** @param severity where it depends on how bad it is */
  add(code: NodeFindingCode, values: Readonly<Record<string, string>> = {}, severity?: FindingSeverity): void {
    const message = nodeFindingSentences[code].replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
    if (this.#found.some((finding) => finding.message === message)) return
    this.#found.push({ code, severity: severity ?? severities[code] ?? 'error', message, values: { ...values } })
  }

  has(code: NodeFindingCode): boolean {
    return this.#found.some((finding) => finding.code === code)
  }

  /** The worst first, and what is alike as it stands in the table: the order in which it was found is nobody's. */
  get sorted(): NodeFinding[] {
    const rank = ({ severity, code }: NodeFinding): number =>
      findingSeverities.indexOf(severity) * order.length + order.indexOf(code)
    return this.#found.toSorted((one, other) => rank(one) - rank(other))
  }
}
