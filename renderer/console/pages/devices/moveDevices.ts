import type { DeviceView } from '../../../../shared/console/devices.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'

/** Calls under way at once: the controller stores those together. */
const width = 16

/** Moves devices into a room, each by itself; one that fails does not keep the others. `failed` holds what was said of each. */
export async function moveDevices(
  client: Pick<ConsoleClient, 'call'>,
  devices: readonly DeviceView[],
  roomId: string,
): Promise<{ moved: number; failed: string[] }> {
  const failed: string[] = []
  const todo = devices.values()
  const work = async (): Promise<void> => {
    for (const { userId } of todo) {
      try {
        await client.call('devices.update', { userId, roomId })
      } catch (error) {
        failed.push(error instanceof Error ? error.message : String(error))
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, devices.length) }, work))
  return { moved: devices.length - failed.length, failed }
}
