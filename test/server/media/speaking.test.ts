import { describe, expect, test } from 'vitest'
import { isRtcp, sequenceDistance, sequenceOf } from '../../../server/media/rtp/packet.ts'
import { maxPassedOn } from '../../../server/media/rooms/speakers.ts'

import { SignalClient } from '../../support/media/signal-client.ts'
import { WhepPeer } from '../../support/media/whep-peer.ts'
import { silence, WhipPeer } from '../../support/media/whip-peer.ts'
import { sharedMediaNode } from '../../support/fixtures.ts'

const node = sharedMediaNode()

const soundOnly = { pictures: 0 }

/** Sends words and pauses, until the returned function is called. */
function talk(peer: WhipPeer): () => void {
  let part = 0
  const timer = setInterval(() => {
    part += 1
    peer.level = part % 4 === 0 ? 80 : 25
  }, 100)
  return () => {
    clearInterval(timer)
    peer.level = silence
  }
}

/** Reads the speakers of a room, as reported to the controller. */
async function speaking(roomId: string): Promise<Record<string, boolean>> {
  const { connections } = await node().request('stats', { roomId })
  return Object.fromEntries(connections.map((connection) => [connection.user_id, connection.speaking]))
}

describe('speaking users', () => {
  test('are shown to everybody, including users who join later', async () => {
    await node().openRoom('talk')
    const bob = await SignalClient.join(node().url, 'talk', { token: node().token('talk', { userId: 'bob' }) })
    expect(bob.joined).toMatchObject({ speaking: [], spoke: [] })
    const token = node().token('talk', { userId: 'ann' })
    const ann = await WhipPeer.open(`${node().url}/whip/talk`, token, soundOnly)
    const quiet = talk(ann)
    expect(await bob.next('speaking')).toMatchObject({ user_ids: ['ann'] })
    expect(await speaking('talk')).toEqual({ ann: true, bob: false })
    const late = await SignalClient.join(node().url, 'talk', { token: node().token('talk', { userId: 'late' }) })
    expect(late.joined).toMatchObject({ speaking: ['ann'], spoke: ['ann'] })
    bob.forget()
    quiet()
    expect(await bob.next('speaking')).toMatchObject({ user_ids: [] })
    expect(await speaking('talk')).toMatchObject({ ann: false })
    bob.forget()
    await ann.close()
    await bob.next('person_left')
    const last = await SignalClient.join(node().url, 'talk', { token: node().token('talk', { userId: 'last' }) })
    expect(last.joined).toMatchObject({ speaking: [], spoke: [] })
    for (const client of [bob, late, last]) client.drop()
  })

  test('are heard in a large room, where silent users cost nothing; no packet is missing', async () => {
    await node().openRoom('large', { maxAudio: 20 })
    const publish = async (i: number): Promise<WhipPeer> =>
      await WhipPeer.open(`${node().url}/whip/large`, node().token('large', { userId: `p${i}` }), soundOnly)
    const people = await Promise.all(Array.from({ length: maxPassedOn + 2 }, async (_, i) => await publish(i)))
    const [first] = people
    if (first === undefined) throw new Error('nobody came')
    // Nobody receives packets of p0 before it makes a sound.
    const heard: Buffer[] = []
    const quiet = talk(first)
    const listener = await WhepPeer.open(`${node().url}/whep/large/p0`, node().token('large'), (message) => {
      if (!isRtcp(message)) heard.push(Buffer.from(message))
    })
    await expect.poll(() => heard.length).toBeGreaterThan(20)
    quiet()
    // Some time after the last sound the stream pauses, although packets arrive.
    let before = -1
    let sent = 0
    await expect
      .poll(
        () => {
          const paused = heard.length === before && first.sounds > sent
          before = heard.length
          sent = first.sounds
          return paused
        },
        { timeout: 10_000, interval: 300 },
      )
      .toBe(true)
    const again = talk(first)
    await expect.poll(() => heard.length).toBeGreaterThan(before + 20)
    again()
    const steps = heard
      .slice(1)
      .map((packet, i) => sequenceDistance(sequenceOf(heard[i] ?? packet), sequenceOf(packet)))
    expect(new Set(steps)).toEqual(new Set([1]))
    // The sender's audio levels are not forwarded.
    expect(new Set(heard.map((packet) => (packet[0] ?? 0) & 0x10))).toEqual(new Set([0]))
    await listener.close()
    await Promise.all(people.map(async (peer) => await peer.close()))
  })
})
