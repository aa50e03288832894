import { expect, vi } from 'vitest'
import type { Headless } from '../../support/headless.ts'
import { SignalClient } from '../../support/media/signal-client.ts'

/** Somebody who waits to be let in, in a room of their own. */
export async function waitingGuest(controller: Headless): Promise<SignalClient> {
  await controller.rpc('nodes.enable', { name: 'Annex' })
  await vi.waitFor(
    async () => {
      const nodes = await controller.rpc('nodes.list', {})
      expect(nodes.find(({ config }) => config.name === 'Annex')).toMatchObject({ state: 'online' })
    },
    { timeout: 30_000 },
  )
  const { room_id } = await controller.rpc('rooms.create', { topic: 'Interview', waiting_room: true })
  const { url } = await controller.rpc('media.join_link', { room_id, user_id: 'bo', user_name: 'Bo' })
  const { listeners } = await controller.rpc('overview.get', {})
  // Its listener starts with the node.
  const guest = new SignalClient(listeners.find((listener) => listener.name === 'node')?.url ?? '')
  await guest.ask(room_id, { token: new URL(url).hash.replace('#token=', '') })
  await guest.next('waiting')
  return guest
}
