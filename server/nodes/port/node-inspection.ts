import type { NodeFinding } from '../../../shared/console/node-findings.ts'
import type { NodeKind } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'

/** Result of a trial connection. */
export interface ConnectionTest {
  ok: boolean
  /** One plain sentence. */
  message: string
  milliseconds: number
  /** Of the program that answers, e.g. `1.1.2`; empty where it does not say. */
  version: string
  plugins: string[]
  /** What is wrong and what is unsafe, the worst first. */
  findings: NodeFinding[]
}

/** Result of inspecting a node. */
export type NodeInspection = Pick<ConnectionTest, 'version' | 'plugins' | 'findings'>

/** Inspects nodes of a kind without a driver. Never rejects. */
export type NodeInspections = Partial<Record<NodeKind, (config: StoredNode) => Promise<NodeInspection>>>
