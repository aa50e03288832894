import { request } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { type ScriptedCamera, startScriptedCamera } from '../../support/camera/scripted-camera.ts'
import { MediaRefusedError } from '../../support/media/answered-offer.ts'

import { offerSdp } from '../../support/media/offer.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { WhepPeer } from '../../support/media/whep-peer.ts'
import { shared, sharedMediaNode } from '../../support/fixtures.ts'

// Long timeouts for a camera on a busy machine.
vi.setConfig({ testTimeout: 20_000, hookTimeout: 30_000 })

const camera = shared(() => startTestCamera())
const node = sharedMediaNode()

/** Adds a camera to a room whose substream does not answer until `letGo`: requests for the substream wait. */
async function slowSmallStream(roomId: string): Promise<{ small: ScriptedCamera; letGo: () => void }> {
  const small = await startScriptedCamera(() => undefined)
  const assistAddress = `rtsp://127.0.0.1:${small.port}/small`
  await node().openRoom(roomId, { hostPassword: 'secret' })
  await node().addDevice(roomId, 'cam', camera().url, { assistAddress })
  return {
    small,
    letGo: () => {
      for (const socket of small.sockets) socket.destroy()
    },
  }
}

/** Requests the substream, and runs `meanwhile` while it waits. Resolves to the status of the refusal. */
async function refusedAfter(roomId: string, token: string, meanwhile: () => Promise<unknown>): Promise<number> {
  const { small, letGo } = await slowSmallStream(roomId)
  await using _ = small
  const watching = WhepPeer.open(`${node().url}/whep/${roomId}/cam?size=small`, token).then(
    () => 201,
    (error: unknown) => (error instanceof MediaRefusedError ? error.status : Promise.reject(error)),
  )
  await expect.poll(() => small.requests.length).toBeGreaterThan(0)
  await meanwhile()
  letGo()
  return await watching
}

const viewersOf = async (roomId: string): Promise<number | undefined> => (await node().stream(roomId, 'cam'))?.viewers

describe('a user who has left the room before the stream is ready', () => {
  test('sees nothing of it after a kick', async () => {
    const token = node().token('kick', { userId: 'ann' })
    const status = await refusedAfter('kick', token, async () => {
      await node().request('kick', { roomId: 'kick', userId: 'ann' })
    })
    expect(status).toBe(404)
    expect(await viewersOf('kick')).toBe(0)
    expect(await node().userIds('kick')).toEqual(['cam'])
  })

  test('sees nothing of it after leaving and returning: that is another session', async () => {
    await node().openRoom('again')
    const token = node().token('again', { userId: 'ann' })
    const first = await SignalClient.join(node().url, 'again', { token })
    const status = await refusedAfter('again', first.joined.session, async () => {
      first.send({ type: 'leave' })
      await first.closed
      await SignalClient.join(node().url, 'again', { token })
    })
    expect(status).toBe(404)
    expect(await viewersOf('again')).toBe(0)
  })

  test.each(['member', 'observer'] as const)(
    'sees nothing of a room that was closed and reopened (%s)',
    async (role) => {
      const status = await refusedAfter(
        role,
        node().token(role, { role, ...(role === 'member' ? { userId: 'ann' } : {}) }),
        async () => {
          await node().request('close_room', { roomId: role })
          await node().openRoom(role)
          await node().addDevice(role, 'cam', camera().url)
        },
      )
      expect(status).toBe(404)
      expect(await viewersOf(role)).toBe(0)
    },
  )

  test('sees nothing of a camera that was removed', async () => {
    await node().openRoom('other')
    // The camera is still pulled for another room.
    await node().addDevice('other', 'cam', camera().url)
    const status = await refusedAfter('taken-out', node().token('taken-out', { userId: 'ann' }), async () => {
      await node().request('remove_device', { roomId: 'taken-out', userId: 'cam' })
    })
    expect(status).toBe(404)
    expect(await viewersOf('other')).toBe(0)
  })

  test('publishes nothing if kicked during the offer', async () => {
    await node().openRoom('slow')
    const person = await SignalClient.join(node().url, 'slow', { token: node().token('slow', { userId: 'ann' }) })
    const offer = offerSdp({ direction: 'sendonly' })
    const headers = {
      'content-type': 'application/sdp',
      'content-length': Buffer.byteLength(offer),
      authorization: `Bearer ${person.joined.session}`,
    }
    const posting = request(`${node().url}/whip/slow`, { method: 'POST', headers })
    const answered = new Promise<number | undefined>((resolve, reject) => {
      posting.on('error', reject).on('response', (response) => resolve(response.resume().statusCode))
    })
    posting.write(offer.slice(0, 100))
    await new Promise((resolve) => posting.once('socket', resolve))
    expect(await node().request('kick', { roomId: 'slow', userId: 'ann' })).toEqual({ kicked: true })
    posting.end(offer.slice(100))
    expect(await answered).toBe(401)
    expect(await node().userIds('slow')).toEqual([])
    expect(await node().stream('slow', 'ann')).toBeUndefined()
  })
})

describe('a viewer of a camera', () => {
  test('stops when the camera leaves the room, for each of its streams, even if it stays in another room', async () => {
    await node().openRoom('stays')
    await node().addDevice('stays', 'cam', camera().url)
    await node().addDevice('stays', 'small', camera().smallUrl)
    await node().openRoom('leaves')
    await node().addDevice('leaves', 'cam', camera().url, { assistAddress: camera().smallUrl })
    const token = node().token('leaves', { userId: 'ann' })
    const [large, small, unseen, other] = await Promise.all([
      WhepPeer.open(`${node().url}/whep/leaves/cam`, token),
      WhepPeer.open(`${node().url}/whep/leaves/cam?size=small`, token),
      WhepPeer.open(`${node().url}/whep/leaves/cam`, node().token('leaves', { role: 'observer' })),
      WhepPeer.open(`${node().url}/whep/stays/cam`, node().token('stays', { role: 'observer' })),
    ])
    await node().request('remove_device', { roomId: 'leaves', userId: 'cam' })
    const before = other.packets
    expect(await viewersOf('stays')).toBe(1)
    expect(await Promise.all([large.close(), small.close(), unseen.close()])).toEqual([false, false, false])
    await expect.poll(() => other.packets).toBeGreaterThan(before)
    expect(await other.close()).toBe(true)
  })
})
