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
}

/** Makes a driver for this configuration, polls it once with the deadline, and closes it again. Never rejects. */
export async function testConnection(
  drivers: NodeDrivers,
  config: StoredNode,
  context: Pick<PoolContext, 'deadlines' | 'logger'>,
): Promise<ConnectionTest> {
  const { deadlines, logger } = context
  const startedAt = performance.now()
  const elapsed = (): number => Math.round(performance.now() - startedAt)
  const driver = makeDriver(drivers, config, logger)
  try {
    const health = await within({ milliseconds: deadlines().health_ms }, (signal) => driver.health(signal))
    const message = `The node answers: ${health.rooms} rooms, ${health.users} users.`
    return { ok: true, message, milliseconds: elapsed() }
  } catch (error) {
    const message = describeFailure(error)
    logger.info({ node: config.name, err: error }, 'a trial connection to a node failed')
    return { ok: false, message, milliseconds: elapsed() }
  } finally {
    within({ milliseconds: deadlines().shutdown_ms }, () => driver.close()).catch((error: unknown) =>
      logger.warn({ node: config.name, err: error }, 'the driver of a trial connection did not close'),
    )
  }
}
