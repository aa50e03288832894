import { describe, expect, onTestFinished, test } from 'vitest'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { sharedMediaNode } from '../../../support/fixtures.ts'

const node = sharedMediaNode()

async function join(roomId: string, how: Parameters<typeof SignalClient.join>[2] = {}): Promise<SignalClient> {
  const client = await SignalClient.join(node().url, roomId, how)
  onTestFinished(() => client.drop())
  return client
}

/** Opens a room that can be joined by number. */
async function lobby(roomId: string, more: Parameters<TestMediaNode['openRoom']>[1] = {}): Promise<void> {
  await node().openRoom(roomId, more)
  node().openToNumber.add(roomId)
}

const mine = { browser: 'the browser of Ann 1' }

describe('a user who knows the number of an open room', () => {
  test('joins as a member, and the controller is notified how', async () => {
    await lobby('lobby', { hostPassword: 'open sesame' })
    const ann = await join('lobby', { user_name: 'Ann', ...mine })
    expect(ann.joined.you).toMatchObject({ user_name: 'Ann', role: 'member' })
    const host = await join('lobby', {
      user_name: 'Bob',
      browser: 'the browser of Bob 1',
      host_password: 'open sesame',
    })
    expect(host.joined.you.role).toBe('host')
    await join('lobby', { token: node().token('lobby', { userId: 'carl' }) })
    const { users } = await node().request('users', { roomId: 'lobby' })
    expect(users.map(({ userName, byNumber }) => [userName, byNumber])).toEqual([
      ['Ann', true],
      ['Bob', false],
      ['carl', false],
    ])
    // Other users of the room cannot see it.
    expect(JSON.stringify(host.joined)).not.toContain('umber')
  })

  test('is the same user in one browser under any name, and nobody else', async () => {
    await lobby('one')
    await lobby('two')
    const first = await join('one', { user_name: 'Ann', ...mine })
    const second = await join('one', { user_name: 'Ann of Oslo', ...mine })
    expect(await first.next('removed')).toEqual({ type: 'removed', reason: 'replaced' })
    expect(second.joined.you).toMatchObject({ user_id: first.joined.you.user_id, user_name: 'Ann of Oslo' })
    expect((await node().request('users', { roomId: 'one' })).users).toMatchObject([{ userName: 'Ann of Oslo' }])
    const other = await join('one', { user_name: 'Ann', browser: 'the browser of Eve 1' })
    const inOtherRoom = await join('two', { user_name: 'Ann', ...mine })
    const withoutBrowser = await join('two', { user_name: 'Ann' })
    const ids = [second, other, inOtherRoom, withoutBrowser].map(({ joined }) => joined.you.user_id)
    expect(new Set(ids).size).toBe(4)
    expect(JSON.stringify(other.joined)).not.toContain(mine.browser)
  })

  test('cannot choose an id that belongs to a user of a link', async () => {
    await lobby('names')
    const eve = await join('names', { user_id: 'ann', user_name: 'Ann' })
    expect(eve.joined.you.user_id).toMatch(/^guest-[0-9a-f]{12}$/)
    const ann = await join('names', { token: node().token('names', { userId: 'ann' }) })
    expect(ann.joined.you.user_id).toBe('ann')
  })

  test('cannot return in that browser after a removal, except with a link or the password', async () => {
    await using other = await TestMediaNode.start({ settings: { ban_ms: 0 } })
    await other.openRoom('kicked', { hostPassword: 'open sesame' })
    other.openToNumber.add('kicked')
    const ann = await SignalClient.join(other.url, 'kicked', { user_name: 'Ann', ...mine })
    await other.request('kick', { roomId: 'kicked', userId: ann.joined.you.user_id })
    expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'kicked' })
    const again = { user_name: 'Somebody else', ...mine }
    await expect(SignalClient.join(other.url, 'kicked', again)).rejects.toThrow('403 removed')
    const told = await other.event(({ type }) => type === 'removed')
    // This notification keeps them out of a restarted node; see the removals of a start.
    expect(told).toMatchObject({ tokenId: expect.stringMatching(/^browser-[0-9a-f]{32}$/) })
    for (const way of [
      { token: other.token('kicked') },
      { host_password: 'open sesame' },
      { browser: 'the browser of Bob 1' },
    ]) {
      const back = await SignalClient.join(other.url, 'kicked', { ...again, ...way })
      back.send({ type: 'leave' })
      await back.closed
    }
  })

  test('can write the number in any spelling; an invalid number opens nothing', async () => {
    await lobby('大厅 1/2')
    const look = async (path: string): Promise<number> => (await fetch(`${node().url}/entry/${path}`)).status
    expect(await (await fetch(`${node().url}/entry/${encodeURIComponent('大厅 1/2')}`)).json()).toMatchObject({
      by_number: true,
    })
    for (const none of ['%FF', '%00', '__proto__']) expect([none, await look(none)]).toEqual([none, 200])
    for (const none of ['', 'x'.repeat(129)]) expect(await look(none)).toBe(404)
    expect((await fetch(`${node().url}/entry/x`, { method: 'POST' })).status).toBe(405)
  })

  test('is told that a room is locked or full, and a closed one does not exist', async () => {
    await lobby('small', { attendeeMax: 1 })
    await join('small')
    await expect(join('small')).rejects.toThrow('507 roomFull')
    await lobby('locked', { locked: true })
    await expect(join('locked')).rejects.toThrow('403 locked')
    await lobby('over')
    await node().request('close_room', { roomId: 'over' })
    await expect(join('over')).rejects.toThrow('404 noRoom')
  })

  test('may publish by WHIP at once', async () => {
    await lobby('whip')
    const post = async (room: string): Promise<Response> =>
      await fetch(`${node().url}/whip/${room}`, {
        method: 'POST',
        headers: { 'content-type': 'application/sdp' },
        body: offerSdp({ direction: 'sendonly' }),
      })
    const [open, none] = [await post('whip'), await post('none')]
    expect([open.status, none.status]).toEqual([201, 401])
    const { users } = await node().request('users', { roomId: 'whip' })
    expect(users).toMatchObject([{ userId: expect.stringMatching(/^guest-/), byNumber: true }])
    await fetch(new URL(open.headers.get('location') ?? '', node().url), { method: 'DELETE' })
  })
})

describe('guesses at room numbers', () => {
  test('are limited by address; the number of an open room does not count', async () => {
    await using other = await TestMediaNode.start()
    await other.openRoom('lobby')
    other.openToNumber.add('lobby')
    const look = async (roomId: string): Promise<unknown> => {
      const answer = await fetch(`${other.url}/entry/${roomId}`)
      return answer.status === 200 ? await answer.json() : answer.status
    }
    for (let turn = 0; turn < 70; turn++)
      expect(await look('lobby')).toEqual({ by_number: true, host_password: false, topic: '' })
    for (let turn = 0; turn < 30; turn++) {
      expect(await look(`guess-${turn}`)).toEqual({ by_number: false, host_password: false, topic: '' })
      await expect(SignalClient.join(other.url, `guess-${turn}`)).rejects.toThrow('401 unauthorised')
    }
    expect(await look('one-more')).toBe(429)
    await expect(SignalClient.join(other.url, 'one-more')).rejects.toThrow('429 tooMany')
    expect((await fetch(`${other.url}/whip/one-more`, { method: 'POST' })).status).toBe(429)
    // A link does not count as a guess.
    const person = await SignalClient.join(other.url, 'lobby', { token: other.token('lobby') })
    person.drop()
  })
})
