import { WebSocket } from 'ws'
import { describe, expect, test as base, vi } from 'vitest'
import { derivedSecret, eventPath, ownMark } from '../../../../server/nodes/secrets/janus-access.ts'
import { JanusRooms } from '../../../../server/nodes/janus/rooms/janus-rooms.ts'
import { Participant } from '../../../support/janus/participant.ts'
import { JanusSite } from '../../../support/sites/janus-site.ts'
import { disposed } from '../../../support/fixtures.ts'

const test = base.extend('site', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(
    onCleanup,
    await JanusSite.start({
      tokenSecret: 'of tokens',
      adminKey: 'of rooms',
      events: true,
      // Longer than any wait of these tests: changes arrive as events.
      settings: ({ deadlines }) => {
        deadlines.health_interval_ms = 4_000
      },
    }),
  ),
)

describe('A Janus server with signed tokens that sends its events', () => {
  test('admits only users with a token for that room, and shows them at once', async ({ site }) => {
    await site.room('200000001')
    await site.room('200000002')
    expect(await site.onNode('200000001')).toMatchObject({ is_private: true, require_pvtid: true })
    await expect(Participant.connect(site.janus.wsUrl)).rejects.toMatchObject({ code: 403 })
    const { room, token, roomToken } = await site.tickets('200000001', 'ann')
    await using ann = await Participant.connect(site.janus.wsUrl, token)
    await expect(ann.join(room, 'ann')).rejects.toMatchObject({ code: 433 })
    await expect(ann.join((await site.tickets('200000002', 'bob')).room, 'ann', roomToken)).rejects.toMatchObject({
      code: 433,
    })
    await ann.join(room, 'ann', roomToken)
    await expect.poll(() => site.users('200000001')).toEqual(['ann'])
    await ann.leave()
    await expect.poll(() => site.users('200000001')).toEqual([])
  })

  test('is not asked for the users of a room that was just read, and is asked again after an event', async ({
    site,
  }) => {
    await site.room('200000010')
    await using ann = await site.enter('200000010', 'ann')
    await expect.poll(() => site.users('200000010')).toEqual(['ann'])
    const inRoom = async () => (await site.pool.calls.users('200000010')).map(({ userId }) => userId)
    expect(await inRoom()).toEqual(['ann'])
    const listed = vi.spyOn(JanusRooms.prototype, 'participants')
    try {
      for (let times = 0; times < 20; times += 1) expect(await inRoom()).toEqual(['ann'])
      expect(listed.mock.calls.length).toBeLessThan(5)
    } finally {
      listed.mockRestore()
    }
    await using bob = await site.enter('200000010', 'bob')
    await expect.poll(inRoom).toEqual(['ann', 'bob'])
    await bob.leave()
    await ann.leave()
    await expect.poll(inRoom).toEqual([])
  })

  test("removes a user who joins under another name than the token's", async ({ site }) => {
    await site.room('200000003')
    const { room, token, roomToken } = await site.tickets('200000003', 'mallory')
    await using mallory = await Participant.connect(site.janus.wsUrl, token)
    await mallory.join(room, 'ann', roomToken)
    await expect.poll(() => mallory.heard).toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    expect(site.told).not.toContainEqual(expect.objectContaining({ type: 'joined', roomId: '200000003' }))
  })

  test('keeps removed users out: the old token is refused, and new ones for a while', async ({ site }) => {
    await site.room('200000004')
    await using ann = await site.enter('200000004', 'ann')
    await expect.poll(() => site.users('200000004')).toEqual(['ann'])
    const { room, roomToken } = await site.tickets('200000004', 'ann')
    expect(await site.pool.calls.kick('200000004', 'ann')).toBe(true)
    await ann.attachAgain()
    await expect(ann.join(room, 'ann', roomToken)).rejects.toMatchObject({ code: 433 })
    await expect(site.tickets('200000004', 'ann')).rejects.toThrow('removed from the room')
    await expect.poll(() => site.store.get('rooms', '200000004')?.removals).toMatchObject([{ user_id: 'ann' }])
  })

  test('stores a removal before it happens: if the controller dies in between, the user stays out', async ({
    site,
  }) => {
    await site.room('200000008')
    await using ann = await site.enter('200000008', 'ann')
    await expect.poll(() => site.users('200000008')).toEqual(['ann'])
    await site.janus.signal('SIGSTOP')
    const kicked = site.pool.calls.kick('200000008', 'ann')
    await expect.poll(() => site.store.get('rooms', '200000008')?.removals).toMatchObject([{ user_id: 'ann' }])
    expect(ann.heard).not.toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    await site.janus.signal('SIGCONT')
    expect(await kicked).toBe(true)
    await expect.poll(() => ann.heard).toContainEqual(expect.objectContaining({ reason: 'kicked' }))
  })

  test('replaces a room with a numeric name by one with its current name', async ({ site }) => {
    const { secrets } = site.access
    await site.janus.ask('videoroom', {
      request: 'create',
      room: '200000009',
      description: `${ownMark(secrets)} 0`,
      secret: derivedSecret(secrets, 'room', '200000009'),
      is_private: true,
      admin_key: secrets.admin_key,
    })
    await site.room('200000009')
    const before = { request: 'exists', room: '200000009' }
    await expect.poll(() => site.janus.ask('videoroom', before), { timeout: 6_000 }).toMatchObject({ exists: false })
    expect((await site.onNode('200000009'))?.room).toMatch(/^200000009-/)
  })

  test('accepts no token in a locked or full room, and the earlier ones again when it is opened', async ({ site }) => {
    await site.room('200000005', { attendee_max: 2 })
    const { room, token, roomToken } = await site.tickets('200000005', 'bob')
    await using ann = await site.enter('200000005', 'ann')
    await expect.poll(() => site.users('200000005')).toEqual(['ann'])
    await site.room('200000005', { attendee_max: 2, locked: true })
    await using bob = await Participant.connect(site.janus.wsUrl, token)
    await expect.poll(() => bob.tryToJoin(room, 'bob', roomToken)).toBe(433)
    await expect(site.tickets('200000005', 'eve')).rejects.toThrow('locked')
    await site.room('200000005', { locked: false })
    await expect.poll(() => bob.tryToJoin(room, 'bob', roomToken)).toBe('in')
    await bob.join(room, 'bob', roomToken)
    await expect.poll(() => site.users('200000005')).toEqual(['ann', 'bob'])
    await expect(site.tickets('200000005', 'eve')).rejects.toThrow('full')
    await ann.leave()
  })

  test('is accepted only with its own secret', async ({ site }) => {
    const refused = async (path: string, ...protocols: string[]): Promise<string> => {
      const socket = new WebSocket(site.port.url.replace('http', 'ws') + path, protocols)
      return await new Promise((resolve) => {
        socket.on('unexpected-response', (_, { statusCode }) => resolve(String(statusCode)))
        socket.on('open', () => resolve('open'))
        socket.on('error', () => {})
      })
    }
    expect(await refused(eventPath('j'), 'wrong')).toBe('401')
    expect(await refused(eventPath('j'))).toBe('401')
    expect(await refused(eventPath('other'), site.access.secrets.event_secret)).toBe('401')
  })

  test('reports all joins and leaves from a time when its connection to the site was cut', async ({ site }) => {
    await site.room('200000006')
    await using ann = await site.enter('200000006', 'ann')
    await expect.poll(() => site.users('200000006')).toEqual(['ann'])
    const { port } = new URL(site.port.url)
    const events = () => site.pool.nodes.views()[0]?.program?.events
    expect(events()).toBe(true)
    await site.port.stop()
    expect(events()).toBe(false)
    const bob = await site.enter('200000006', 'bob')
    await ann.leave()
    await site.port.start('127.0.0.1', Number(port), undefined)
    await expect.poll(() => site.users('200000006'), { timeout: 15_000 }).toEqual(['bob'])
    expect(events()).toBe(true)
    expect(site.told.filter(({ type }) => type === 'nodeDescribed').length).toBeGreaterThan(2)
    await bob.leave()
  })

  test('has its users and rooms read again after a restart', async ({ site }) => {
    await site.room('200000007')
    const tickets = await site.tickets('200000007', 'ann')
    await using ann = await site.enter('200000007', 'ann')
    await expect.poll(() => site.users('200000007')).toEqual(['ann'])
    await site.janus.restart()
    await expect.poll(() => site.onNode('200000007').catch(() => undefined)).toBeDefined()
    await expect.poll(() => site.users('200000007')).toEqual([])
    await using again = await Participant.connect(site.janus.wsUrl, tickets.token)
    await again.join(tickets.room, 'ann', tickets.roomToken)
    await expect.poll(() => site.users('200000007')).toEqual(['ann'])
    await ann.leave().catch(() => {})
  })
})
