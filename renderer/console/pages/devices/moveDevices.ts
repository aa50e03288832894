import type { ConsoleClient } from '../../../kit/transport/client.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/** Maximum number of concurrent calls, which the controller writes together. */
const width = 16

/** Moves devices into a room one by one. A failure does not stop the others; `failed` contains the errors. */
export async function moveDevices(
  client: Pick<ConsoleClient, 'call'>,
  devices: readonly DeviceView[],
  roomId: string,
): Promise<{ moved: number; failed: unknown[] }> {
  const failed: unknown[] = []
  const todo = devices.values()
  const work = async (): Promise<void> => {
    for (const { userId } of todo) {
      try {
        await client.call('devices.update', { userId, roomId })
      } catch (error) {
        failed.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, devices.length) }, work))
  return { moved: devices.length - failed.length, failed }
}
