import { describe, expect, onTestFinished, test } from 'vitest'
import { mediaMethods } from '../../../../shared/media/control.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { sharedMediaNode } from '../../../support/fixtures.ts'

const resumeMs = 400
const hostPassword = 'open sesame'

const node = sharedMediaNode({ settings: { resume_ms: resumeMs } })

type How = Parameters<typeof SignalClient.join>[2]

async function join(roomId: string, how: How): Promise<SignalClient> {
  const client = await SignalClient.join(node().url, roomId, how)
  onTestFinished(() => client.drop())
  return client
}

const host = (roomId: string): Promise<SignalClient> =>
  join(roomId, { host_password: hostPassword, user_name: 'Ann', browser: 'the browser of Ann 1' })

/** Joins by a shared link, in a browser of its own, and waits for admission. */
async function waits(roomId: string, name: string, how: How = {}): Promise<SignalClient> {
  const client = new SignalClient(node().url)
  onTestFinished(() => client.drop())
  await client.ask(roomId, { token: node().token(roomId), user_name: name, browser: `the browser of ${name}`, ...how })
  await client.next('waiting')
  return client
}

const room = (roomId: string, more = {}) => node().openRoom(roomId, { hostPassword, waitingRoom: true, ...more })
/** Reads the waiting users from the last message to a host. */
const waiting = (client: SignalClient) =>
  client.messages.findLast((message) => message.type === 'waiting_list')?.people.map(({ user_name }) => user_name)

async function post(path: string, token: string): Promise<number> {
  const answer = await fetch(`${node().url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp', authorization: `Bearer ${token}` },
    body: offerSdp({ direction: path.startsWith('/whip') ? 'sendonly' : 'recvonly' }),
  })
  const place = answer.headers.get('location')
  if (place !== null) await fetch(new URL(place, node().url), { method: 'DELETE' })
  return answer.status
}

test('users in the room and in the waiting room receive the node to use when this one is lost', async () => {
  await room('moved')
  const settings = mediaMethods.set_settings.params.parse({ resume_ms: resumeMs })
  const bo = await waits('moved', 'Bo')
  const ann = await host('moved')
  const other_nodes = ['http://10.0.0.6:7082', 'http://10.0.0.7:7082']
  await node().request('set_settings', { ...settings, other_nodes })
  for (const client of [bo, ann]) expect(await client.next('nodes')).toEqual({ type: 'nodes', other_nodes })
  expect(await (await waits('moved', 'Cy')).next('nodes')).toEqual({ type: 'nodes', other_nodes })
  expect((await host('moved')).joined.other_nodes).toEqual(other_nodes)
  await node().request('set_settings', settings)
})

describe('a room with a waiting room', () => {
  test('a guest waits and sees only the topic; the host sees the name and admits them', async () => {
    await room('in', { topic: 'Interview' })
    const bo = await waits('in', 'Bo')
    expect(await bo.next('waiting')).toEqual({ type: 'waiting', topic: 'Interview', host_here: false })
    expect(await node().userIds('in')).toEqual([])
    const ann = await host('in')
    await expect.poll(() => waiting(ann)).toEqual(['Bo'])
    const [{ user_id } = { user_id: '' }] = (await ann.next('waiting_list')).people
    ann.send({ type: 'let_in', user_id })
    expect((await bo.next('joined')).you).toMatchObject({ user_id, user_name: 'Bo', role: 'member' })
    expect(await ann.next('person_joined')).toMatchObject({ person: { user_name: 'Bo' } })
    await expect.poll(() => waiting(ann)).toEqual([])
    expect(await node().event((event) => event.type === 'hostActed' && event.roomId === 'in')).toMatchObject({
      act: 'letIn',
      by: { userName: 'Ann' },
      who: { userId: user_id, userName: 'Bo' },
    })
    // Requests of waiting users are ignored.
    expect(bo.messages.filter(({ type }) => type === 'error')).toEqual([])
  })

  test('several guests wait in order of arrival; the host admits all at once, or turns one away, who cannot ask again for a while', async () => {
    await room('many')
    const ann = await host('many')
    const people = [await waits('many', 'Bo'), await waits('many', 'Cy'), await waits('many', 'Di')]
    await expect.poll(() => waiting(ann)).toEqual(['Bo', 'Cy', 'Di'])
    const list = ann.messages.findLast((message) => message.type === 'waiting_list')?.people ?? []
    ann.send({ type: 'turn_away', user_id: list[1]?.user_id })
    expect(await people[1]?.next('refused')).toMatchObject({ code: 403, reason: 'turnedAway' })
    await people[1]?.closed
    await expect(
      join('many', { token: node().token('many'), user_name: 'Cy again', browser: 'the browser of Cy' }),
    ).rejects.toThrow('403 turnedAway')
    ann.send({ type: 'let_in' })
    await Promise.all([people[0]?.next('joined'), people[2]?.next('joined')])
    await expect.poll(() => waiting(ann)).toEqual([])
    expect((await node().request('users', { roomId: 'many' })).users).toHaveLength(3)
  })

  test('nobody skips it: not by other requests, not by WHEP or WHIP, not by a personal link; a member admits nobody', async () => {
    await room('liars')
    const ann = await host('liars')
    const bo = await waits('liars', 'Bo')
    for (const asked of [
      { type: 'chat', text: 'hello' },
      { type: 'let_in' },
      { type: 'resume', version: 1, session: '' },
    ])
      bo.send(asked)
    bo.send({ type: 'ping', id: 1 })
    expect(await bo.next('pong')).toEqual({ type: 'pong', id: 1 })
    const anybody = node().token('liars')
    const own = node().token('liars', { userId: 'cy', userName: 'Cy' })
    expect(await post('/whep/liars/whoever', anybody)).toBe(404)
    expect(await post('/whip/liars', anybody)).toBe(403)
    // Even with a stream to watch.
    const encoder = node().token('liars', { userId: 'encoder' })
    const sends = await fetch(`${node().url}/whip/liars`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', authorization: `Bearer ${encoder}` },
      body: offerSdp({ direction: 'sendonly' }),
    })
    expect(sends.status).toBe(201)
    expect(await post('/whep/liars/encoder', anybody)).toBe(403)
    expect(await post('/whep/liars/encoder', own)).toBe(403)
    // A publisher with a personal link has to wait to see the others.
    expect(await post('/whep/liars/encoder', encoder)).toBe(403)
    const alsoEncoder = await waits('liars', 'E', { token: encoder })
    const cy = await waits('liars', 'Cy', { token: own })
    expect(await node().userIds('liars')).toEqual([ann.joined.you.user_id, 'encoder'])
    ann.send({ type: 'let_in', user_id: 'cy' })
    await cy.next('joined')
    cy.send({ type: 'let_in' })
    expect(await cy.next('error')).toMatchObject({ reason: 'forbidden' })
    expect(alsoEncoder.messages.map(({ type }) => type)).toEqual(['waiting'])
    expect(await post('/whep/liars/encoder', cy.joined.session)).toBe(201)
    await fetch(new URL(sends.headers.get('location') ?? '', node().url), { method: 'DELETE' })
  })

  test('a lost connection keeps its place in the waiting room and may be admitted meanwhile; later it is removed', async () => {
    await room('lost')
    const ann = await host('lost')
    const bo = await waits('lost', 'Bo')
    const cy = await waits('lost', 'Cy')
    await expect.poll(() => waiting(ann)).toEqual(['Bo', 'Cy'])
    bo.drop()
    const again = await waits('lost', 'Bo')
    await expect.poll(() => waiting(ann)).toEqual(['Bo', 'Cy'])
    // Only the latest connection counts.
    const third = await waits('lost', 'Bo')
    expect(await again.next('removed')).toEqual({ type: 'removed', reason: 'replaced' })
    third.drop()
    await third.closed
    ann.send({ type: 'let_in' })
    await cy.next('joined')
    const back = await join('lost', { token: node().token('lost'), user_name: 'Bo', browser: 'the browser of Bo' })
    expect(back.joined.you.user_name).toBe('Bo')
    const di = await waits('lost', 'Di')
    await expect.poll(() => waiting(ann)).toEqual(['Di'])
    di.drop()
    await expect.poll(() => waiting(ann)).toEqual([])
  })

  test('an admitted user returns without waiting, even much later; with the pass of another user, room or meeting they wait', async () => {
    await room('pass')
    const ann = await host('pass')
    const bo = await waits('pass', 'Bo')
    ann.send({ type: 'let_in' })
    const { pass } = await bo.next('joined')
    const link = { token: node().token('pass'), user_name: 'Bo', browser: 'the browser of Bo' }
    bo.send({ type: 'leave' })
    await bo.closed
    const back = await join('pass', { ...link, pass })
    back.send({ type: 'leave' })
    await back.closed
    for (const forged of [`${pass}x`, pass.replace('.', '1.'), '', '.', 'x'])
      (await waits('pass', 'Bo', { ...link, pass: forged })).drop()
    ;(await waits('pass', 'Eve', { pass })).drop()
    await room('other')
    ;(await waits('other', 'Bo', { pass })).drop()
    // The room moves to a restarted node: their passes admit them and the host at the same moment.
    await node().request('close_room', { roomId: 'pass', moves: true })
    await room('pass')
    const moved = await join('pass', { ...link, pass })
    const hostAgain = await host('pass')
    hostAgain.send({ type: 'end_meeting' })
    expect(await moved.next('removed')).toEqual({ type: 'removed', reason: 'ended' })
    await waits('pass', 'Bo', { ...link, pass })
  })

  test('a removed user waits again once they may return', async () => {
    await using other = await TestMediaNode.start({ settings: { ban_ms: 0 } })
    await other.openRoom('out', { hostPassword })
    const bo = await SignalClient.join(other.url, 'out', { token: other.token('out', { userId: 'bo' }) })
    await other.request('kick', { roomId: 'out', userId: 'bo' })
    await bo.closed
    await other.openRoom('out', { hostPassword, waitingRoom: true })
    const again = new SignalClient(other.url)
    const late = { token: other.token('out', { userId: 'bo' }), pass: bo.joined.pass }
    await again.ask('out', late)
    await again.next('waiting')
    again.drop()
  })

  test('the operator switches it off, and all waiting users join; the operator closes the room, and they read so', async () => {
    await room('off')
    const bo = await waits('off', 'Bo')
    await room('off', { waitingRoom: false })
    await bo.next('joined')
    await room('off')
    const cy = await waits('off', 'Cy')
    await node().request('close_room', { roomId: 'off' })
    expect(await cy.next('removed')).toEqual({ type: 'removed', reason: 'closed' })
  })

  test('a locked or full room admits nobody into the waiting room; the host sees why a waiting user cannot be admitted', async () => {
    await room('full', { attendeeMax: 1 })
    const ann = await host('full')
    const bo = await waits('full', 'Bo')
    ann.send({ type: 'let_in' })
    expect(await ann.next('error')).toMatchObject({ reason: 'roomFull' })
    await expect.poll(() => waiting(ann)).toEqual(['Bo'])
    await room('full', { locked: true })
    await expect(join('full', { token: node().token('full'), user_name: 'Cy' })).rejects.toThrow('403 locked')
    expect(bo.messages.map(({ type }) => type)).toEqual(['waiting'])
  })

  test('a hundred users can wait: half of them by one link, and ten places are reserved for personal links', async () => {
    await room('crowd')
    const [token, other] = [node().token('crowd'), node().token('crowd')]
    await Promise.all(Array.from({ length: 50 }, (_, turn) => waits('crowd', `P${turn}`, { token })))
    const more = { user_name: 'One more', browser: 'the browser of one more' }
    await expect(join('crowd', { ...more, token })).rejects.toThrow('503 busy')
    await Promise.all(Array.from({ length: 40 }, (_, turn) => waits('crowd', `Q${turn}`, { token: other })))
    await expect(join('crowd', { ...more, token: other })).rejects.toThrow('503 busy')
    const own = (userId: string): string => node().token('crowd', { userId })
    await Promise.all(Array.from({ length: 10 }, (_, turn) => waits('crowd', `R${turn}`, { token: own(`r${turn}`) })))
    await expect(join('crowd', { token: own('one-more') })).rejects.toThrow('503 busy')
    expect((await host('crowd')).joined.you.role).toBe('host')
  })
})
