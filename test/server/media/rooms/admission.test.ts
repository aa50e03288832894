import { describe, expect, onTestFinished, test } from 'vitest'
import { signalVersion } from '../../../../shared/media/signal.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { sharedMediaNode } from '../../../support/fixtures.ts'

const node = sharedMediaNode()

type How = Parameters<typeof SignalClient.join>[2]

async function join(roomId: string, how: How, at = node()): Promise<SignalClient> {
  const client = await SignalClient.join(at.url, roomId, how)
  onTestFinished(() => client.drop())
  return client
}

/** Opens a room with a host password, ann with her personal link, and bob as an onlooker. */
async function meeting(roomId: string, at = node()): Promise<{ link: string; ann: SignalClient; bob: SignalClient }> {
  await at.openRoom(roomId, { hostPassword: 'open sesame' })
  const link = at.token(roomId, { userId: 'ann' })
  const ann = await join(roomId, { token: link }, at)
  const bob = await join(roomId, { token: at.token(roomId, { userId: 'bob' }) }, at)
  expect(ann.joined.you.role).toBe('member')
  return { link, ann, bob }
}

describe('a member who gives the host password', () => {
  test('on a second device becomes host: everybody is notified, including the controller', async () => {
    // On a node of its own, which counts its users.
    await using at = await TestMediaNode.start()
    const { link, ann, bob } = await meeting('second', at)
    const host = await join('second', { token: link, host_password: 'open sesame' }, at)
    expect(host.joined.you).toMatchObject({ user_id: 'ann', role: 'host' })
    expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'replaced' })
    expect(await bob.next('person_changed')).toMatchObject({ person: { user_id: 'ann', role: 'host' } })
    const { users } = await at.request('users', { roomId: 'second' })
    expect(users.map(({ userId, role }) => [userId, role])).toEqual([
      ['ann', 'host'],
      ['bob', 'member'],
    ])
    const told = await at.event(
      (event) => event.type === 'joined' && event.roomId === 'second' && event.user.role === 'host',
    )
    expect(told).toMatchObject({ user: users[0] })
    expect((await at.request('health', {})).users).toBe(2)
    host.send({ type: 'remove', user_id: 'bob' })
    expect(await bob.next('removed')).toEqual({ type: 'removed', reason: 'kicked' })
  })

  test('within the current session becomes host and continues without interruption', async () => {
    const { ann } = await meeting('session')
    const host = await join('session', { token: ann.joined.session, host_password: 'open sesame' })
    expect(host.joined).toMatchObject({ resumed: true, session: ann.joined.session, you: { role: 'host' } })
  })

  test('after a short absence becomes host, and stays host when the page reloads', async () => {
    const { link, ann, bob } = await meeting('away')
    ann.drop()
    await bob.next((message) => message.type === 'person_changed' && message.person.away)
    const host = await join('away', { token: link, host_password: 'open sesame' })
    expect(host.joined.you).toMatchObject({ role: 'host', away: false })
    // The page keeps its pass, which proves the password.
    expect((await join('away', { token: link, pass: host.joined.pass })).joined.you.role).toBe('host')
  })

  test("that is wrong is refused, and the member's page is unaffected", async () => {
    const { link, ann } = await meeting('wrong')
    for (const token of [link, ann.joined.session]) {
      await expect(join('wrong', { token, host_password: 'guess' })).rejects.toThrow('401 hostPasswordWrong')
    }
    ann.send({ type: 'ping', id: 1 })
    await ann.next('pong')
    const { users } = await node().request('users', { roomId: 'wrong' })
    expect(users.map(({ role }) => role)).toEqual(['member', 'member'])
    // Guesses count from any page.
    for (let i = 0; i < 8; i++) {
      await expect(join('wrong', { token: link, host_password: 'guess' })).rejects.toThrow('hostPasswordWrong')
    }
    await expect(join('wrong', { token: link, host_password: 'open sesame' })).rejects.toThrow('429 tooMany')
  })

  test('takes nobody else’s place: the host by password is a user of its own', async () => {
    const { ann } = await meeting('guest')
    const host = await join('guest', { user_id: 'ann', host_password: 'open sesame' })
    expect(host.joined.you.user_id).not.toBe('ann')
    ann.send({ type: 'ping', id: 1 })
    await ann.next('pong')
    expect(ann.joined.you.role).toBe('member')
  })
})

describe('a stranger', () => {
  /** Reads an answer without its timestamps. */
  async function answer(path: string, token: string): Promise<{ status: number }> {
    const headers = { 'content-type': 'application/sdp', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) }
    const response = await fetch(`${node().url}${path}`, { method: 'POST', headers, body: offerSdp() })
    const fields = [...response.headers].filter(([name]) => name !== 'date')
    return Object.assign({ status: response.status }, { fields, text: await response.text() })
  }

  test('does not learn whether a room, a stream or a password exists', async () => {
    await node().openRoom('real', { hostPassword: 'open sesame' })
    await node().openRoom('bare')
    const others = [node().token('another'), 'x'.repeat(32), 'a.b', '']
    for (const token of others) {
      for (const path of ['/whip/ROOM', '/whep/ROOM/cam', '/whep/ROOM/cam?size=small']) {
        const [real, none] = await Promise.all(
          ['real', 'none'].map(async (room) => await answer(path.replace('ROOM', room), token)),
        )
        expect(real).toEqual(none)
        expect(real?.status).toBe(401)
      }
    }
    const refused = async (room_id: string, more: object): Promise<unknown> => {
      const client = new SignalClient(node().url)
      onTestFinished(() => client.drop())
      await client
        .enter({ type: 'join', version: signalVersion, room_id, token: '', host_password: '', user_name: '', ...more })
        .catch(() => {})
      return [client.messages, await client.closed]
    }
    for (const more of [{}, { host_password: 'guess' }, { token: node().token('another') }, { token: 'a.b' }]) {
      const answers = await Promise.all(['real', 'bare', 'none'].map(async (room) => await refused(room, more)))
      expect(answers[0]).toEqual(answers[2])
      expect(answers[1]).toEqual(answers[2])
      expect(JSON.stringify(answers[0])).toContain('401')
    }
  })

  test('counts as a guess with a forged link, but not with the key of an expired session', async () => {
    // Guesses are gathered for a second, those of other tests too.
    await using own = await TestMediaNode.start()
    await own.openRoom('returned')
    const ann = await SignalClient.join(own.url, 'returned', { token: own.token('returned', { userId: 'ann' }) })
    const { session } = ann.joined
    await own.request('kick', { roomId: 'returned', userId: 'ann' })
    const ask = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/sdp' }
      return (await fetch(`${own.url}/whip/returned`, { method: 'POST', headers, body: offerSdp() })).status
    }
    expect([await ask(session), await ask('a.b')]).toEqual([401, 401])
    const refused = await own.event((event) => event.type === 'guesses')
    expect(refused).toMatchObject({ groups: [{ kind: 'badLink', path: '/whip', count: 1 }] })
  })

  test('has a limit of guesses at a room’s password whether the room exists or not', async () => {
    await node().openRoom('limited', { hostPassword: 'open sesame' })
    for (const room of ['limited', 'nowhere']) {
      for (let i = 0; i < 10; i++) {
        await expect(join(room, { host_password: `guess ${i}` })).rejects.toThrow('401 hostPasswordWrong')
      }
      await expect(join(room, { host_password: 'one more' })).rejects.toThrow('429 tooMany')
    }
  })

  test('with a link learns that its room is not open: the page waits for it', async () => {
    const link = node().token('later')
    await expect(join('later', { token: link })).rejects.toThrow('404 noRoom')
    expect((await answer('/whip/later', link)).status).toBe(404)
    await node().openRoom('later')
    await join('later', { token: link })
  })
})
