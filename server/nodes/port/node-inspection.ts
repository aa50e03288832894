import type { NodeFinding } from '../../../shared/domain/node-findings.ts'
import type { NodeKind } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'

/** Result of a trial connection. */
export interface ConnectionTest {
  ok: boolean
  /** One plain sentence. */
  message: string
  milliseconds: number
  /** Version of the program that answers, e.g. `1.1.2`; empty if it reports none. */
  version: string
  plugins: string[]
  /** Faults and unsafe settings, the most severe first. */
  findings: NodeFinding[]
}

export type NodeInspection = Pick<ConnectionTest, 'version' | 'plugins' | 'findings'>

/** Inspects nodes of a kind without a driver. Never rejects. */
export type NodeInspections = Partial<Record<NodeKind, (config: StoredNode) => Promise<NodeInspection>>>
