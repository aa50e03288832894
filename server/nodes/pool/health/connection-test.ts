import type { StoredNode } from '../../../store/records.ts'
import { within } from '../../port/deadline.ts'
import { makeDriver, type NodeDrivers } from '../../port/node-driver.ts'
import { describeFailure } from '../../port/node-failure.ts'
import type { ConnectionTest, NodeInspection, NodeInspections } from '../../port/node-inspection.ts'
import type { PoolContext } from '../state/pool-context.ts'

const nothingFound: NodeInspection = { version: '', plugins: [], findings: [] }

/**
 * Inspects a node if its kind supports that. Otherwise creates a driver for it, polls it once with the deadline, and
 * closes the driver. Never rejects.
 */
export async function testNode(
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
