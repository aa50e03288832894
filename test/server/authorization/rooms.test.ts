import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import { joiners, nodeRoutes, type NodeRoute } from '../../../shared/authorization/node-routes.ts'
import type { RoomStanding } from '../../../shared/authorization/room-standing.ts'
import { splitRoute } from '../../../shared/authorization/route.ts'
import { mayReceive, maySend, signalSenders } from '../../../shared/authorization/signal-rights.ts'
import { unverifiedClaims } from '../../../shared/files/signed-tokens.ts'
import { type FromPerson, signalVersion } from '../../../shared/media/signal.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { sharedMediaNode } from '../../support/fixtures.ts'

const hostPassword = 'open sesame'
const clients: SignalClient[] = []
/** Credentials, with the standing that they prove; `bearer`: over HTTP, `join`: by signalling. */
const kinds: { kind: string; standing: RoomStanding; room?: string; bearer?: string; join?: Partial<Joining> }[] = []
type Joining = Extract<FromPerson, { type: 'join' }>

async function join(room: string, how: Partial<Joining>): Promise<SignalClient> {
  const client = await SignalClient.join(node().url, room, how)
  clients.push(client)
  return client
}

/** A link as a bearer and in a join. */
const link = (token: string): { bearer: string; join: Partial<Joining> } => ({ bearer: token, join: { token } })

const node = sharedMediaNode()
beforeAll(async () => {
  for (const room of ['room', 'other', 'open']) await node().openRoom(room, { hostPassword })
  node().openToNumber.add('open')
  const revoked = node().token('room')
  const tokenId = unverifiedClaims('join-token', revoked)?.id ?? ''
  const now = Date.now()
  await node().request('note_removal', { roomId: 'room', userId: '', tokenId, at: now, until: now + 60_000 })
  const good = node().token('room')
  const member = await join('room', { token: node().token('room', { userId: 'ann' }) })
  const host = await join('room', { token: node().token('room', { userId: 'bo', role: 'host' }) })
  const inOtherRoom = await join('other', { token: node().token('other', { userId: 'cy', role: 'host' }) })
  kinds.push(
    { kind: 'nothing', standing: 'stranger', bearer: '', join: {} },
    { kind: 'forged link', standing: 'stranger', ...link(`${good.slice(0, -4)}AAAA`) },
    { kind: 'expired link', standing: 'stranger', ...link(node().token('room', { lifeMs: -1 })) },
    { kind: 'revoked link', standing: 'stranger', ...link(revoked) },
    { kind: 'link of another room', standing: 'stranger', ...link(node().token('other', { role: 'host' })) },
    { kind: 'link for anybody', standing: 'member', ...link(good) },
    { kind: 'link of one user', standing: 'member', ...link(node().token('room', { userId: 'dee' })) },
    { kind: 'host link', standing: 'host', ...link(node().token('room', { userId: 'eve', role: 'host' })) },
    { kind: 'observer link', standing: 'observer', ...link(node().token('room', { role: 'observer' })) },
    { kind: 'host password', standing: 'host', join: { host_password: hostPassword } },
    { kind: 'wrong host password', standing: 'stranger', join: { host_password: 'sesame' } },
    { kind: 'pass alone', standing: 'stranger', join: { pass: member.joined.pass, user_id: 'ann' } },
    { kind: 'session of a member', standing: 'member', bearer: member.joined.session },
    { kind: 'session of a host', standing: 'host', bearer: host.joined.session },
    { kind: 'session in another room', standing: 'stranger', bearer: inOtherRoom.joined.session },
    { kind: 'number of a room that it opens', standing: 'member', room: 'open', bearer: '', join: {} },
  )
  return () => {
    for (const client of clients) client.drop()
  }
})

describe('Every route of the node port', () => {
  test.each(Object.keys(nodeRoutes) as NodeRoute[])(
    '%s admits the callers of its entry in the table',
    async (route) => {
      const right = nodeRoutes[route]
      const { method, path } = splitRoute(route)
      if (route === 'GET /signal') return
      for (const { kind, standing, room = 'room', bearer } of kinds) {
        if (bearer === undefined) continue
        const place = path.replace(':room', room).replace(':stream', 'ann').replace(':id', 'made-up').replace('*', '')
        // Sends no offer: an admitted caller learns what the body lacks, everyone else is refused.
        const answer = await fetch(`${node().url}${place}`, {
          method,
          redirect: 'manual',
          headers: {
            authorization: `Bearer ${bearer}`,
            ...(method === 'POST' ? { 'content-type': 'text/plain' } : {}),
          },
          ...(method === 'POST' ? { body: 'no offer' } : {}),
        })
        await answer.arrayBuffer()
        if (right === 'anyone') expect([kind, answer.status >= 400]).toEqual([kind, false])
        else if (right === 'holder') expect([kind, answer.status]).toEqual([kind, 404])
        else {
          const standings: readonly RoomStanding[] = right
          expect([kind, answer.status]).toEqual([kind, standings.includes(standing) ? 415 : 401])
        }
      }
    },
  )

  test('GET /signal connects everyone, and lets those join whom the table names', async () => {
    const standings: readonly RoomStanding[] = joiners
    for (const { kind, standing, room = 'room', join: how } of kinds) {
      if (how === undefined) continue
      const outcome = await join(room, how).then(
        ({ joined }) => joined.you.role,
        () => 'refused',
      )
      expect([kind, outcome]).toEqual([kind, standings.includes(standing) ? standing : 'refused'])
    }
  })
})

/** One message of each type. */
const samples: { readonly [T in FromPerson['type']]: Extract<FromPerson, { type: T }> } = {
  join: { type: 'join', version: signalVersion, room_id: 'none', token: '', host_password: '', user_name: '' },
  resume: { type: 'resume', version: signalVersion, session: 'made up' },
  leave: { type: 'leave' },
  ping: { type: 'ping', id: 1 },
  chat: { type: 'chat', text: 'Hello' },
  state: { type: 'state', audio: true, video: false },
  shown: { type: 'shown', streams: [] },
  mute: { type: 'mute', user_id: 'nobody', kind: 'audio' },
  remove: { type: 'remove', user_id: 'nobody' },
  hand: { type: 'hand', raised: true },
  react: { type: 'react', reaction: 'heart' },
  lower_hand: { type: 'lower_hand' },
  mute_all: { type: 'mute_all' },
  lock: { type: 'lock', locked: true },
  record: { type: 'record', on: true },
  end_meeting: { type: 'end_meeting' },
  invite: { type: 'invite' },
  let_in: { type: 'let_in' },
  turn_away: { type: 'turn_away', user_id: 'nobody' },
  relay: { type: 'relay', to: 'nobody', payload: { kind: 'bye' } },
}
const standings = ['stranger', 'waiting', 'member', 'host'] as const

describe('Every message of the room page', () => {
  test.each(Object.keys(signalSenders) as FromPerson['type'][])(
    '%s is accepted from the senders of its entry in the table',
    async (type) => {
      for (const standing of standings) {
        const roomId = `${type}-${standing}`
        await node().openRoom(roomId, { hostPassword, waitingRoom: standing === 'waiting' })
        const client = await standingIn(roomId, standing)
        client.send(samples[type])
        const answers = await answersOf(client)
        const allowed = maySend(standing, samples[type])
        const refusal = answers.find((one) => one.type === 'refused' || one.type === 'error')
        const reason = refusal !== undefined && 'reason' in refusal ? refusal.reason : ''
        // An invalid first message closes the connection of a stranger; it is ignored from a waiting user and refused to a participant.
        if (standing === 'waiting') expect([roomId, reason]).toEqual([roomId, ''])
        else if (!allowed) expect([roomId, reason]).toEqual([roomId, reasonFor(standing, type)])
        else expect([roomId, reason]).not.toEqual([roomId, 'forbidden'])
        for (const { type: received } of client.messages) {
          const place = received === 'refused' ? 'stranger' : standing
          expect([roomId, received, mayReceive(place, received)]).toEqual([roomId, received, true])
        }
        client.drop()
      }
    },
  )
})

function reasonFor(standing: 'stranger' | 'member' | 'host', type: FromPerson['type']): string {
  return standing === 'stranger' || type === 'join' || type === 'resume' ? 'badRequest' : 'forbidden'
}

/** Connects a user of this standing to the room. */
async function standingIn(roomId: string, standing: (typeof standings)[number]): Promise<SignalClient> {
  const role = standing === 'host' ? 'host' : 'member'
  const token = node().token(roomId, { userId: 'ann', role })
  if (standing === 'member' || standing === 'host') return await join(roomId, { token })
  const client = new SignalClient(node().url)
  clients.push(client)
  await once(client.socket, 'open')
  if (standing === 'waiting') {
    await client.ask(roomId, { token })
    await client.next('waiting')
  }
  return client
}

/** Collects the messages until all requests are answered, or the connection has ended. */
async function answersOf(client: SignalClient): Promise<SignalClient['messages']> {
  client.send({ type: 'ping', id: 99 })
  await Promise.race([
    client.next((message) => message.type === 'pong' && message.id === 99).catch(() => undefined),
    client.closed,
  ])
  return client.messages
}
