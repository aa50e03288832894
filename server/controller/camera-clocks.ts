import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import type { CameraClock } from '../readiness/camera-clocks-check.ts'

/** Reads the clocks of all cameras that have joined, as the embedded nodes hear them; those of cameras on other nodes are not known. */
export async function cameraClocks(
  outgoing: Pick<OutgoingUsers, 'views'>,
  media: EmbeddedNodes | undefined,
  signal: AbortSignal,
): Promise<CameraClock[]> {
  const joined = outgoing.views().filter(({ state }) => state === 'joined')
  if (joined.length === 0) return []
  const asked = (media?.names ?? []).map(async (node) => {
    const client = await media?.client(node, signal)
    return (await client?.request('camera_clocks', {}, signal))?.clocks ?? []
  })
  // A node that does not answer tells of its own cameras only.
  const answers = (await Promise.allSettled(asked)).flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const ahead = new Map(answers.map(({ streamId, ahead_ms }) => [streamId, ahead_ms]))
  return joined.map(({ userId, userName }) => ({ name: userName || userId, aheadMs: ahead.get(userId) }))
}
