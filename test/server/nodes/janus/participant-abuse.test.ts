import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { JanusError } from '../../../../server/nodes/janus/wire/janus-error.ts'
import { JanusPeer } from '../../../support/janus/janus-peer.ts'
import { Participant } from '../../../support/janus/participant.ts'
import { JanusSite } from '../../../support/sites/janus-site.ts'
import { shared } from '../../../support/fixtures.ts'

/** A part of the request is missing or wrong: VideoRoom's answers without a valid secret, key or token. */
const lacking = [429, 433]

/** The room does not exist. */
const unknown = 426

/** Actions that the product promises to prevent: a participant with valid tokens tries each from a WebSocket of their own. */
describe('A participant with valid tokens and a client of their own, on a node with our configuration files', () => {
  const site = shared(async () => {
    const site = await JanusSite.start({ tokenSecret: 'of tokens', adminKey: 'of rooms', events: true, ownFiles: true })
    await site.room('ward')
    await site.room('board')
    return site
  })

  const enter = async (roomId: string, userId: string): Promise<Participant & { room: string }> => {
    const { room, token, roomToken } = await site().tickets(roomId, userId)
    const person = await Participant.connect(site().janus.wsUrl, token)
    onTestFinished(() => person.leave())
    await person.join(room, userId, roomToken)
    return Object.assign(person, { room })
  }
  /** Reads the room's name on the node, which outsiders would have to guess. */
  const nameOf = async (roomId: string): Promise<string> => (await site().onNode(roomId))?.room ?? ''
  /** Resolves to the error code of the node; 0: success. */
  const refusal = async (person: Participant, request: Readonly<Record<string, unknown>>): Promise<number> => {
    try {
      await person.ask(request)
      return 0
    } catch (error) {
      if (error instanceof JanusError) return error.code
      throw error
    }
  }

  test('cannot create, destroy, change, record or forward: neither their own room nor another', async () => {
    const mallory = await enter('ward', 'mallory')
    const bob = await enter('ward', 'bob')
    const acts = [
      { request: 'create', room: 'mine' },
      // Even if they had guessed its name.
      ...[mallory.room, await nameOf('board')].flatMap((room) => [
        { request: 'destroy', room },
        { request: 'edit', room, new_publishers: 50 },
        { request: 'kick', room, id: 'bob' },
        { request: 'moderate', room, id: 'bob', mid: '0', mute: true },
        { request: 'allowed', room, action: 'disable' },
        { request: 'enable_recording', room, record: true },
        { request: 'rtp_forward', room, publisher_id: 'bob', host: '127.0.0.1', streams: [{ mid: '0', port: 9 }] },
        { request: 'stop_rtp_forward', room, publisher_id: 'bob', stream_id: 1 },
        { request: 'listforwarders', room },
        { request: 'add_remote_publisher', room, id: 'ghost', streams: [{ type: 'video', mid: '0', codec: 'vp8' }] },
        { request: 'publish_remotely', room, publisher_id: 'bob', remote_id: 'x', host: '127.0.0.1', port: 9 },
      ]),
    ]
    for (const act of acts) {
      const code = await refusal(mallory, act)
      expect([act, code, lacking.includes(code)]).toEqual([act, code, true])
    }
    expect(bob.heard).not.toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    expect(await site().onNode('ward')).toMatchObject({
      max_publishers: (await site().onNode('board'))?.max_publishers,
    })
  })

  test('finds no other room: none is listed, and its number is not its name', async () => {
    await enter('board', 'chair')
    const trudy = await enter('ward', 'trudy')
    expect((await trudy.ask({ request: 'list' })).data).toMatchObject({ list: [] })
    // A name follows from the key of the node only: it reveals nothing about other rooms.
    const guesses = ['board', trudy.room.replace('ward', 'board')]
    for (const room of guesses) {
      expect((await trudy.ask({ request: 'exists', room })).data).toMatchObject({ exists: false })
      expect(await refusal(trudy, { request: 'listparticipants', room })).toBe(unknown)
    }
    // The received messages name only their own room.
    expect(JSON.stringify(trudy.heard)).not.toContain('board')
    expect(trudy.room).not.toBe('ward')
  })

  test('cannot join another room, watch there, or use another plugin', async () => {
    const { token, roomToken } = await site().tickets('ward', 'eve')
    await using eve = await Participant.connect(site().janus.wsUrl, token)
    const room = await nameOf('board')
    expect(await eve.tryToJoin(room, 'eve', roomToken)).toBe(433)
    const watch = { request: 'join', ptype: 'subscriber', room, streams: [{ feed: 'chair' }], token: roomToken }
    expect(lacking).toContain(await refusal(eve, watch))
    const attach = eve.session.attach('janus.plugin.streaming', AbortSignal.timeout(5_000))
    await expect(attach).rejects.toBeInstanceOf(JanusError)
  })

  test('writes no file, although they publish', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'janus-recorded-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const mallory = await enter('ward', 'cam')
    using sent = await JanusPeer.publish(mallory.handle)
    await mallory.ask({ request: 'configure', record: true, filename: join(folder, 'taken') })
    const before = sent.packets
    await expect.poll(() => sent.packets).toBeGreaterThan(before + 5)
    expect(await readdir(folder)).toEqual([])
  })

  test('sees nothing after their removal, whatever credentials they kept', async () => {
    const bob = await enter('ward', 'speaker')
    using _ = await JanusPeer.publish(bob.handle)
    const ann = await enter('ward', 'ann')
    const { roomToken } = await site().tickets('ward', 'ann')
    const watcher = await ann.session.attach('janus.plugin.videoroom', AbortSignal.timeout(5_000))
    const watch = {
      request: 'join',
      ptype: 'subscriber',
      room: ann.room,
      streams: [{ feed: 'speaker' }],
      private_id: ann.privateId,
      token: roomToken,
    }
    using seen = await JanusPeer.subscribe(watcher, watch)
    await expect.poll(() => seen.packets).toBeGreaterThan(5)
    await expect.poll(() => site().users('ward')).toContain('ann')
    expect(await site().pool.calls.kick('ward', 'ann')).toBe(true)
    const stopped = await stillAfter(() => seen.packets)
    await ann.attachAgain()
    expect(lacking).toContain(await refusal(ann, watch))
    expect(lacking).toContain(await refusal(ann, { ...watch, private_id: undefined }))
    expect(await ann.tryToJoin(ann.room, 'ann', roomToken)).toBe(433)
    expect(seen.packets).toBe(stopped)
  })
})

/** Waits until a count is stable: packets in flight have arrived, and none followed for the time of ten packets. */
async function stillAfter(count: () => number): Promise<number> {
  let last = -1
  await expect.poll(() => last === (last = count()), { interval: 200 }).toBe(true)
  return last
}
