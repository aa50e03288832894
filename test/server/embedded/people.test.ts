import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SettingsPatch } from '../../../shared/settings.ts'
import type { RefusedError } from '../../support/media/signal-client.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

describe('people', () => {
  const site = shared(async () => {
    const started = await MediaSite.start()
    await online(started)
    return started
  })

  /** Creates an open room. People whose connection drops stay in it for a while. */
  const openRoom = async (): Promise<string> => opened(await site().api.createRoom({ host_password: 'open sesame' }))

  /** Has settings of the media set when the test has ended. */
  const setAfterwards = (media: SettingsPatch['media']): void =>
    onTestFinished(async () => void (await site().rpc('settings.set', { media })))

  /** Gets the token of a link that an API client requested. */
  async function token(roomId: string, userId: string, more: Record<string, string | number> = {}): Promise<string> {
    const params = { room_id: roomId, user_id: userId, user_name: `Name of ${userId}`, ...more }
    const answer = await site().api.get('/rtc/room/join_url', params)
    if (answer.ret !== 0) throw new Error(JSON.stringify(answer))
    return new URL(String(answer.url)).hash.replace('#token=', '')
  }

  async function refusal(attempt: Promise<unknown>): Promise<string> {
    const error = await attempt.then(
      () => undefined,
      (caught: unknown) => caught as RefusedError,
    )
    return error?.reason ?? 'none'
  }

  test('a user with a client’s join link is in the room list while connected, under the name of the link', async () => {
    const room = await openRoom()
    const answer = await site().api.get('/rtc/room/join_url', { room_id: room, user_id: 'anna', user_name: '安娜' })
    expect(answer).toEqual({
      ret: 0,
      url: expect.any(String),
      short_url: expect.any(String),
      expires_at: expect.any(Number),
    })
    const url = new URL(String(answer.url))
    expect(url.origin + url.pathname).toBe(`${site().api.media}/jroom/`)
    expect(url.searchParams.get('roomId')).toBe(room)
    const anna = await SignalClient.join(site().nodeUrl, room, { token: url.hash.replace('#token=', '') })
    expect(anna.joined.you).toMatchObject({ user_id: 'anna', user_name: '安娜', role: 'member' })
    expect(await site().api.get('/rtc/room/get_room_info', { room_id: room })).toEqual({
      ret: 0,
      user_list: [{ user_name: '安娜', user_id: 'anna' }],
    })
    anna.send({ type: 'leave' })
    await anna.closed
    await site().until(async () => (await site().users(room)).length === 0)
  })

  test('a member who enters the host password becomes host everywhere, and keeps the place in the list', async () => {
    const room = await openRoom()
    const [dora, emil] = [await token(room, 'dora'), await token(room, 'emil')]
    const first = await SignalClient.join(site().nodeUrl, room, { token: dora })
    const other = await SignalClient.join(site().nodeUrl, room, { token: emil })
    const roles = async () =>
      (await site().rpc('rooms.get', { room_id: room })).users.map(({ user_id, role }) => `${user_id} ${role}`)
    await site().until(async () => (await roles()).join() === 'dora member,emil member')
    const host = await SignalClient.join(site().nodeUrl, room, { token: dora, host_password: 'open sesame' })
    await first.closed
    await site().until(async () => (await roles()).join() === 'dora host,emil member')
    host.send({ type: 'leave' })
    other.send({ type: 'leave' })
    await site().until(async () => (await site().users(room)).length === 0)
  })

  test('a host link makes a host, works for its room only, and expires', async () => {
    const room = await openRoom()
    const host = await SignalClient.join(site().nodeUrl, room, { token: await token(room, 'bob', { role: 'host' }) })
    expect(host.joined.you.role).toBe('host')
    host.drop()
    const other = await site().api.createRoom()
    await opened(other)
    expect(await refusal(SignalClient.join(site().nodeUrl, other, { token: await token(room, 'carl') }))).toBe(
      'unauthorised',
    )
    const good = await token(room, 'carl')
    const forged = `${good.slice(0, -2)}${good.endsWith('AA') ? 'BB' : 'AA'}`
    expect(await refusal(SignalClient.join(site().nodeUrl, room, { token: forged }))).toBe('unauthorised')
    for (const wrong of [{ ttl: 59 }, { ttl: 2_592_001 }, { ttl: 'long' }, { role: 'owner' }, { user_id: '' }]) {
      const params = { room_id: room, user_id: 'x', user_name: 'X', ...wrong }
      expect(await site().api.get('/rtc/room/join_url', params)).toMatchObject({ ret: 407 })
    }
    expect(
      await site().api.get('/rtc/room/join_url', { room_id: room, user_id: 'x~screen', user_name: 'X' }),
    ).toMatchObject({ ret: 407 })
    const unknown = { room_id: 'nowhere', user_id: 'x', user_name: 'X' }
    expect(await site().api.get('/rtc/room/join_url', unknown)).toMatchObject({ ret: 404 })
    expect(await site().api.get('/rtc/room/join_url', unknown, 'wrong')).toMatchObject({ ret: 602 })
  })

  test('a user forced offline is disconnected, old links are refused during the ban, and a new one is needed after it', async () => {
    const room = await openRoom()
    const old = await token(room, 'dina')
    const dina = await SignalClient.join(site().nodeUrl, room, { token: old })
    const kick = { room_id: room, user_id: 'dina' }
    expect(await site().api.get('/rtc/force_offline_mcu', kick)).toEqual({ ret: 0, msg: 'success' })
    expect(await dina.next('removed')).toMatchObject({ reason: 'kicked' })
    await dina.closed
    expect(await site().users(room)).not.toContain('dina')
    expect(await site().api.get('/rtc/force_offline_mcu', kick)).toMatchObject({ ret: 429 })
    expect(await refusal(SignalClient.join(site().nodeUrl, room, { token: old }))).toBe('removed')
    expect(await refusal(SignalClient.join(site().nodeUrl, room, { token: await token(room, 'dina') }))).toBe('removed')

    // The ban is a setting that applies to a running node.
    setAfterwards({ ban_ms: 60_000 })
    await site().rpc('settings.set', { media: { ban_ms: 0 } })
    const fred = await SignalClient.join(site().nodeUrl, room, { token: await token(room, 'fred') })
    const before = await token(room, 'fred')
    await site().api.get('/rtc/force_offline_mcu', { room_id: room, user_id: 'fred' })
    await fred.closed
    expect(await refusal(SignalClient.join(site().nodeUrl, room, { token: before }))).toBe('removed')
    const again = await SignalClient.join(site().nodeUrl, room, { token: await token(room, 'fred') })
    expect(again.joined.you.user_id).toBe('fred')
    again.drop()
  })

  test('open rooms are a setting that applies at once; without it a user needs the host password or a link', async () => {
    const room = await openRoom()
    expect(await refusal(SignalClient.join(site().nodeUrl, room))).toBe('unauthorised')
    setAfterwards({ open_rooms: false })
    await site().rpc('settings.set', { media: { open_rooms: true } })
    const guest = await SignalClient.join(site().nodeUrl, room, { user_name: 'Guest' })
    expect(guest.joined.you.role).toBe('member')
    guest.drop()
    await site().rpc('settings.set', { media: { open_rooms: false } })
    expect(await refusal(SignalClient.join(site().nodeUrl, room))).toBe('unauthorised')
    const host = await SignalClient.join(site().nodeUrl, room, { host_password: 'open sesame' })
    expect(host.joined.you.role).toBe('host')
    host.drop()
  })

  test('TURN servers of the settings reach users who join afterwards', async () => {
    const room = await openRoom()
    const server = { urls: ['turn:turn.example.org:3478'], username: 'u', credential: 'a TURN secret' }
    const other = { urls: ['turn:other.example.org:3478'], username: 'u', credential: 'another TURN secret' }
    setAfterwards({ ice_servers: [] })
    await site().rpc('settings.set', { media: { ice_servers: [other, server] } })
    const person = await SignalClient.join(site().nodeUrl, room, { token: await token(room, 'gina') })
    expect(person.joined.ice_servers).toEqual([other, server])
    person.drop()

    // An operator sees that credentials exist, not their values; saving the displayed settings keeps them, whatever else changes.
    const { media } = await site().rpc('settings.get', {})
    expect(media.ice_servers.map(({ credential }) => credential)).toEqual(['******', '******'])
    const moved = { ...media.ice_servers[1], urls: ['turn:turn.example.org:3478', 'turns:turn.example.org:5349'] }
    const shown = await site().rpc('settings.set', { media: { ice_servers: [{ ...server, credential: '******' }] } })
    expect(shown.media.ice_servers).toEqual([{ ...server, credential: '******' }])
    await site().rpc('settings.set', { media: { ice_servers: [{ ...server, ...moved }] } })
    const next = await SignalClient.join(site().nodeUrl, room, { token: await token(room, 'gina') })
    expect(next.joined.ice_servers).toEqual([{ ...server, urls: moved.urls }])
    next.drop()
    for (const file of await readdir(site().folder, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) expect(await readFile(join(file.parentPath, file.name), 'latin1')).not.toContain('TURN secret')
    }
  })

  test('a link of the console needs no user; it can have its own base URL', async () => {
    const room = await openRoom()
    const link = await site().rpc('media.join_link', { room_id: room, life_ms: 60_000 })
    expect(link.expires_at).toBeLessThanOrEqual(Date.now() + 60_000)
    const guest = await SignalClient.join(site().nodeUrl, room, {
      token: new URL(link.url).hash.replace('#token=', ''),
      user_name: 'Hugo',
    })
    expect(guest.joined.you).toMatchObject({ user_name: 'Hugo', role: 'member' })
    guest.drop()
    setAfterwards({ public_url: '' })
    await site().rpc('settings.set', { media: { public_url: 'https://rooms.example.org/video' } })
    const outside = await site().rpc('media.join_link', { room_id: room })
    expect(outside.url).toMatch(/^https:\/\/rooms\.example\.org\/video\/jroom\/\?roomId=\d{9}#token=/)
  })

  test('an attendee_max counts users and cameras alike: 507', async () => {
    const small = await site().api.createRoom({ attendee_max: 1 })
    const first = await SignalClient.join(site().nodeUrl, await opened(small), { token: await token(small, 'a') })
    const second = SignalClient.join(site().nodeUrl, small, { token: await token(small, 'b') })
    await expect(second).rejects.toMatchObject({ code: 507 })
    first.drop()
  })

  test('everyone leaves a room that is deleted or closed', async () => {
    for (const end of ['del', 'close'] as const) {
      const roomId = await opened(await site().api.createRoom())
      const person = await SignalClient.join(site().nodeUrl, roomId, { token: await token(roomId, 'ida') })
      if (end === 'del') await site().api.get('/rtc/room/del', { room_id: roomId })
      else await site().rpc('rooms.close', { room_ids: [roomId] })
      expect(await person.next('removed')).toMatchObject({ reason: 'closed' })
      await person.closed
    }
  })

  /** Opens the room on the node, like get_mcu. */
  async function opened(roomId: string): Promise<string> {
    await site().api.get('/sdk/get_mcu', { room_id: roomId })
    return roomId
  }
})

describe('the address for users', () => {
  test('/jroom/ redirects to the page on the node and keeps the query', async () => {
    await using site = await MediaSite.start()
    await online(site)
    const roomId = await site.api.createRoom()
    const answer = await fetch(`${site.api.media}/jroom/?roomId=${roomId}&lang=zh`, { redirect: 'manual' })
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe(`${site.nodeUrl}/room/?roomId=${roomId}&lang=zh`)
    const followed = await fetch(`${site.api.media}/jroom/?roomId=${roomId}`)
    expect(followed.status).toBe(200)
    expect(await followed.text()).toContain('<html')
  })

  test('a user who cannot join reads why, in their language', async () => {
    await using site = await MediaSite.start()
    for (const query of ['', '?roomId=1&roomId=2', '?roomId=', `?roomId=${'1'.repeat(129)}`]) {
      const answer = await fetch(`${site.api.media}/jroom/${query}`)
      expect(answer.status).toBe(400)
      const text = await answer.text()
      expect(text).toContain('incomplete')
      expect(text).not.toContain('<script')
    }
    for (const [language, sentence] of [
      ['zh-CN,zh;q=0.9,en;q=0.8', '链接不完整'],
      ['de-AT', 'unvollständig'],
      ['fr', 'incomplete'],
    ] as const) {
      const answer = await fetch(`${site.api.media}/jroom/`, { headers: { 'accept-language': language } })
      expect(await answer.text()).toContain(sentence)
    }
    expect((await (await fetch(`${site.api.media}/jroom/else`)).json()) as object).toMatchObject({ ret: 408 })
  })

  test('clients and users get a tagged address, which the media uses as well', async () => {
    const addresses = [{ tag: 'local', addr: '192.0.2.7:7082' }]
    await using site = await MediaSite.start({ nodes: [{ name: 'here', kind: 'embedded', addresses }] })
    await online(site)
    const roomId = await site.api.createRoom()
    expect(await site.api.get('/sdk/get_mcu', { room_id: roomId })).toEqual({ ret: 0, addr: '192.0.2.7:7082' })
    const answer = await fetch(`${site.api.media}/jroom/?roomId=${roomId}`, { redirect: 'manual' })
    expect(answer.headers.get('location')).toBe(`http://192.0.2.7:7082/room/?roomId=${roomId}`)
  })
})

/** Waits for the node, which starts after the APIs on a busy machine. */
const online = async (site: MediaSite): Promise<void> =>
  site.until(async () => (await site.rpc('overview.get', {})).counts.nodes_online > 0, 50_000)
