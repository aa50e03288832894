import type { NodeFinding } from '../../../shared/console/node-findings.ts'
import type { NodeKind } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'
import { within } from '../deadline.ts'
import { makeDriver, type NodeDrivers } from '../node-driver.ts'
import { describeFailure } from '../node-failure.ts'
import type { PoolContext } from '../pool-context.ts'

/** What a trial connection found. */
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

/** What looking closely at a node finds. */
export type NodeInspection = Pick<ConnectionTest, 'version' | 'plugins' | 'findings'>

/** Looks closely at nodes of a kind, without a driver. Never rejects. */
export type NodeInspections = Partial<Record<NodeKind, (config: StoredNode) => Promise<NodeInspection>>>

const nothingFound: NodeInspection = { version: '', plugins: [], findings: [] }

/** Looks closely at a node where its kind can be looked at; else makes a driver for it, polls it once with the deadline, and closes it again. Never rejects. */
export async function testConnection(
  drivers: NodeDrivers,
  inspections: NodeInspections,
  config: StoredNode,
  context: Pick<PoolContext, 'deadlines' | 'logger'>,
): Promise<ConnectionTest> {
  const startedAt = performance.now()
  const elapsed = (): number => Math.round(performance.now() - startedAt)
  const inspect = inspections[config.kind]
  if (inspect !== undefined) return { ...verdictOn(await inspect(config)), milliseconds: elapsed() }
  return { ...(await pollOnce(drivers, config, context)), ...nothingFound, milliseconds: elapsed() }
}

function verdictOn(inspection: NodeInspection): Omit<ConnectionTest, 'milliseconds'> {
  const { findings, version } = inspection
  const [worst] = findings
  if (worst?.severity === 'error') return { ...inspection, ok: false, message: worst.message }
  const count = findings.length === 0 ? 'nothing to mend was found' : `${findings.length} things to mend were found`
  return { ...inspection, ok: true, message: `The node answers: version ${version}, ${count}.` }
}

async function pollOnce(
  drivers: NodeDrivers,
  config: StoredNode,
  { deadlines, logger }: Pick<PoolContext, 'deadlines' | 'logger'>,
): Promise<Pick<ConnectionTest, 'ok' | 'message'>> {
  const driver = makeDriver(drivers, config, logger)
  try {
    const health = await within({ milliseconds: deadlines().health_ms }, (signal) => driver.health(signal))
    const message = `The node answers: ${health.rooms} rooms, ${health.users} users.`
    return { ok: true, message }
  } catch (error) {
    const message = describeFailure(error)
    logger.info({ node: config.name, err: error }, 'a trial connection to a node failed')
    return { ok: false, message }
  } finally {
    within({ milliseconds: deadlines().shutdown_ms }, () => driver.close()).catch((error: unknown) =>
      logger.warn({ node: config.name, err: error }, 'the driver of a trial connection did not close'),
    )
  }
}
