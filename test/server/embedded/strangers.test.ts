import { describe, expect, onTestFinished, test } from 'vitest'
import { type RefusedError, SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

/** Starts a site with a room in each state: never joined, open on the node, closed by the operator, deleted, never created. */
async function siteWithRooms() {
  const site = await MediaSite.start()
  const create = (): Promise<string> => site.api.createRoom({ host_password: 'open sesame' })
  const [fresh, open, closed, deleted] = [await create(), await create(), await create(), await create()]
  await site.api.get('/sdk/get_mcu', { room_id: open })
  await site.rpc('rooms.close', { room_ids: [closed] })
  await site.api.get('/rtc/room/del', { room_id: deleted })
  return { site, rooms: { fresh, open, closed, deleted, unknown: '123456789' } }
}

/** Answers to a stranger who asks for a room by its number without a link. */
describe('a stranger', () => {
  const strangers = shared(siteWithRooms, ({ site }) => site[Symbol.asyncDispose]())
  const site = (): MediaSite => strangers().site

  const nodeOf = async (roomId: string): Promise<string | undefined> =>
    (await site().rpc('rooms.list', {})).items.find(({ room_id }) => room_id === roomId)?.node

  const roomsOnNodes = async (): Promise<number[]> => (await site().rpc('nodes.list', {})).map(({ rooms }) => rooms)

  async function refusal(attempt: Promise<unknown>): Promise<string> {
    const error = await attempt.then(
      () => undefined,
      (caught: unknown) => caught as RefusedError,
    )
    return error === undefined ? 'none' : `${error.code} ${error.reason}`
  }

  test('/jroom/ answers the same for every room number, and changes nothing', async () => {
    const before = await roomsOnNodes()
    for (const method of ['GET', 'HEAD']) {
      const answers = new Set<string>()
      for (const roomId of Object.values(strangers().rooms)) {
        const answer = await fetch(`${site().api.media}/jroom/?roomId=${roomId}`, { method, redirect: 'manual' })
        const headers = [...answer.headers].filter(([name]) => name !== 'date')
        const seen = JSON.stringify([answer.status, headers, await answer.text()])
        answers.add(seen.replaceAll(roomId, 'N'))
      }
      expect([...answers]).toEqual([expect.stringContaining('/room/?roomId=N')])
    }
    expect(await nodeOf(strangers().rooms.fresh)).toBe('')
    expect(await roomsOnNodes()).toEqual(before)
  })

  test('refusals of the node itself are counted in the activity, without the tried password', async () => {
    // On a site of its own: guesses of one address within a second are one entry, also if they are for different rooms.
    const { site } = await siteWithRooms()
    onTestFinished(() => site[Symbol.asyncDispose]())
    const roomId = await site.api.createRoom({ host_password: 'open sesame' })
    const link = await site.rpc('media.join_link', { room_id: roomId })
    const token = new URL(link.url).hash.replace('#token=', '')
    const person = await SignalClient.join(site.nodeUrl, roomId, { token })
    const wrong = ['guessed-one', 'guessed-two', 'guessed-three']
    await Promise.all(
      wrong.map(async (host_password) => {
        expect(await refusal(SignalClient.join(site.nodeUrl, roomId, { token, host_password }))).toBe(
          '401 hostPasswordWrong',
        )
      }),
    )
    const forged = `${token.slice(0, -6)}forged`
    expect(await refusal(SignalClient.join(site.nodeUrl, roomId, { token: forged }))).toBe('401 unauthorised')
    for (const path of [`whip/${roomId}`, `whep/${roomId}/anna`]) {
      const answer = await fetch(`${site.nodeUrl}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/sdp', authorization: `Bearer ${forged}` },
        body: minimalOffer,
      })
      expect(answer.status).toBe(401)
    }
    const refused = async () =>
      (await site.rpc('activity.list', { operation: 'enter_room', room: roomId, outcome: 'failed' })).items.map(
        ({ path, ret, client, msg }) => `${path} ${ret} ${client} ${msg}`,
      )
    await expect
      .poll(refused, { timeout: 5_000 })
      .toEqual(
        expect.arrayContaining([
          '/signal 401 127.0.0.1 The host password is wrong.',
          '/signal 602 127.0.0.1 The join link is not valid or has expired.',
          '/whip 602 127.0.0.1 The join link is not valid or has expired.',
          '/whep 602 127.0.0.1 The join link is not valid or has expired.',
        ]),
      )
    const { items } = await site.rpc('activity.list', { operation: 'enter_room', room: roomId, outcome: 401 })
    const counted = items.map(({ reason }) => Number(/^(\d+) attempts within a second$/.exec(reason)?.[1] ?? 1))
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(wrong.length)
    const shown = JSON.stringify(await site.rpc('activity.list', {}))
    for (const secret of [...wrong, forged, 'guessed']) expect(shown).not.toContain(secret)
    person.drop()
  })

  test('the node answers the same for every room number: by WebSocket, WHIP and WHEP', async () => {
    const before = await nodeOf(strangers().rooms.fresh)
    for (const [how, expected] of [
      [{}, '401 unauthorised'],
      [{ token: 'wrong.token' }, '401 unauthorised'],
      [{ host_password: 'wrong' }, '401 hostPasswordWrong'],
    ] as const) {
      for (const roomId of Object.values(strangers().rooms)) {
        expect(await refusal(SignalClient.join(site().nodeUrl, roomId, how))).toBe(expected)
      }
    }
    for (const path of ['whip', 'whep']) {
      const answers = new Set<string>()
      for (const roomId of Object.values(strangers().rooms)) {
        for (const authorization of ['', 'Bearer wrong.token']) {
          const answer = await fetch(`${site().nodeUrl}/${path}/${roomId}${path === 'whep' ? '/anna' : ''}`, {
            method: 'POST',
            headers: { 'content-type': 'application/sdp', authorization },
            body: minimalOffer,
          })
          answers.add(
            `${answer.status} ${JSON.stringify(await answer.json()).replaceAll(roomId, 'N')} ${authorization}`,
          )
        }
      }
      expect([...answers]).toHaveLength(2)
      for (const seen of answers) expect(seen).toMatch(/^401 .*"unauthorised"/)
    }
    expect(await nodeOf(strangers().rooms.fresh)).toBe(before)
  })

  test('a link opens a room that nobody has joined yet and assigns its node', async () => {
    const roomId = await site().api.createRoom()
    const link = await site().rpc('media.join_link', { room_id: roomId })
    expect(await nodeOf(roomId)).toBe('')
    const token = new URL(link.url).hash.replace('#token=', '')
    const people = await Promise.all(
      ['Anna', 'Bob'].map((user_name) => SignalClient.join(site().nodeUrl, roomId, { token, user_name })),
    )
    expect(people.map(({ joined }) => joined.room.room_id)).toEqual([roomId, roomId])
    expect(await nodeOf(roomId)).toBe('here')
    for (const person of people) person.drop()
    // The owner of a link learns the truth.
    await site().rpc('rooms.close', { room_ids: [roomId] })
    expect(await refusal(SignalClient.join(site().nodeUrl, roomId, { token }))).toBe('404 noRoom')
  })

  test('the host password opens a room that nobody has joined', async () => {
    const roomId = await site().api.createRoom({ host_password: 'open sesame' })
    const host = await SignalClient.join(site().nodeUrl, roomId, { host_password: 'open sesame' })
    expect(host.joined.you.role).toBe('host')
    host.drop()
  })

  test('while the licence is expired, users are asked to come later, and the operator is notified', async () => {
    const roomId = await site().api.createRoom()
    const link = await site().rpc('media.join_link', { room_id: roomId })
    await site().rpc('licence.set', { expires_at: '2020-01-01', max_rooms: 0, max_users: 0 })
    const page = await fetch(`${site().api.media}/jroom/?roomId=${roomId}`, {
      redirect: 'manual',
      headers: { 'accept-language': 'zh-CN,zh;q=0.9' },
    })
    expect(page.status).toBe(503)
    expect(await page.text()).toContain('许可证已过期')
    const token = new URL(link.url).hash.replace('#token=', '')
    expect(await refusal(SignalClient.join(site().nodeUrl, roomId, { token }))).toBe('503 busy')
    await site().rpc('licence.set', { expires_at: '', max_rooms: 0, max_users: 0 })
    const { items } = await site().rpc('activity.list', { operation: 'enter_room', room: roomId })
    expect(items[0]).toMatchObject({ ret: 405, client: '127.0.0.1', room: roomId })
  })

  test('guesses are limited by address and shown in the activity', async () => {
    // On a site of its own, because this address is refused from then on.
    const { site, rooms } = await siteWithRooms()
    onTestFinished(() => site[Symbol.asyncDispose]())
    // Passwords: a limit for one room, and one over all rooms.
    for (let turn = 0; turn < 10; turn++) {
      expect(await refusal(SignalClient.join(site.nodeUrl, rooms.deleted, { host_password: `${turn}` }))).toBe(
        '401 hostPasswordWrong',
      )
    }
    expect(await refusal(SignalClient.join(site.nodeUrl, rooms.deleted, { host_password: 'x' }))).toBe('429 tooMany')
    const many = await Promise.all(
      Array.from({ length: 60 }, (_, turn) =>
        refusal(SignalClient.join(site.nodeUrl, String(200_000_000 + turn), { host_password: 'x' })),
      ),
    )
    // They arrive in any order.
    expect(new Set(many)).toEqual(new Set(['401 hostPasswordWrong', '429 tooMany']))
    expect(await refusal(SignalClient.join(site.nodeUrl, rooms.open, { host_password: 'open sesame' }))).toBe(
      '429 tooMany',
    )
    const guesses = await site.rpc('activity.list', { operation: 'enter_room', outcome: 401 })
    expect(guesses.items.length).toBeGreaterThan(40)
    expect(guesses.items[0]).toMatchObject({ msg: 'The host password is wrong.', client: '127.0.0.1' })

    // Room numbers at the page.
    const statuses: number[] = []
    for (let guess = 0; guess < 320; guess++) {
      const answer = await fetch(`${site.api.media}/jroom/?roomId=${300_000_000 + guess}`, { redirect: 'manual' })
      statuses.push(answer.status)
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      await answer.text()
    }
    expect(statuses.filter((status) => status === 302).length).toBeGreaterThan(250)
    expect(statuses.at(-1)).toBe(429)
    const looks = await site.rpc('activity.list', { operation: 'join_page', outcome: 'failed' })
    expect(looks.items[0]).toMatchObject({ ret: 401, client: '127.0.0.1', path: '/jroom/' })
    // A link's number alone leads nowhere, but a link still opens its room.
    const link = await site.rpc('media.join_link', { room_id: rooms.open })
    const person = await SignalClient.join(site.nodeUrl, rooms.open, {
      token: new URL(link.url).hash.replace('#token=', ''),
    })
    person.drop()
  })
})

/** A valid offer: only the sender is in question. */
const minimalOffer = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'c=IN IP4 0.0.0.0',
  'a=mid:0',
  'a=sendrecv',
  'a=rtcp-mux',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:abcdefghijklmnopqrstuvwx',
  'a=setup:actpass',
  `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`,
  'a=rtpmap:111 opus/48000/2',
  '',
].join('\r\n')
