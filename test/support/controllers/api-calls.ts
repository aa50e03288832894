import { type Answer, digestOf } from '../api-client.ts'
import { credential } from '../sites/controllers-site.ts'
import type { Asked, AskedOfRoom, SeenRoom, Outcome } from './history.ts'
import type { Reply } from './keep-alive-caller.ts'

/** Path and parameters of a call. */
export function requestOf(
  asked: Exclude<Asked, { do: 'list' }>,
  owner: string,
  token: string,
): ['media' | 'device', string, Record<string, string>] {
  if (asked.do === 'signIn') {
    const { access_key, secret_key } = credential
    return ['media', '/rtc/auth/valid', { access_key, digest: digestOf(secret_key, access_key) }]
  }
  const [base, path, parameters] = roomRequestOf(asked, owner)
  return [base, path, { ...parameters, access_token: token }]
}

function roomRequestOf(asked: AskedOfRoom, owner: string): ['media' | 'device', string, Record<string, string>] {
  const room_id = asked.room
  switch (asked.do) {
    case 'create': {
      const chosen: Record<string, string> = asked.room === '' ? {} : { room_extend_id: asked.room }
      return ['media', '/rtc/room/create', { topic: asked.topic, owner_id: owner, room_mode: '1', ...chosen }]
    }
    case 'update':
      return ['media', '/rtc/room/update', { room_id, topic: asked.topic }]
    case 'delete':
      return ['media', '/rtc/room/del', { room_id }]
    case 'get':
      return ['media', '/rtc/room/get', { room_id }]
    case 'users':
      return ['media', '/rtc/room/get_room_info', { room_id }]
    case 'devices':
      return ['device', '/avd/api/outgoing/getOutgoingUsers', { roomId: asked.room }]
    case 'addDevice':
    case 'removeDevice': {
      const name = asked.do === 'addDevice' ? 'createOutgoingUser' : 'destroyOutgoingUser'
      const which = { roomId: asked.room, userId: asked.user, userAddress: 'rtsp://127.0.0.1/camera' }
      return [
        'device',
        `/avd/api/outgoing/${name}`,
        asked.do === 'addDevice' ? { ...which, userName: 'Camera' } : which,
      ]
    }
  }
}

/** Reads the outcome for the rooms from an answer. */
export function outcomeOf(reply: Reply, asked: Asked): Outcome {
  if (reply.as === 'nobody') return { as: 'unasked' }
  if (reply.as === 'cut') return { as: 'open' }
  const wrong: Outcome = { as: 'wrong', answer: `${reply.status} ${reply.body}` }
  if (asked.do === 'list') return listed(reply, wrong)
  if (reply.status !== 200) return wrong
  let answer: Answer
  try {
    answer = JSON.parse(reply.body) as Answer
  } catch {
    return wrong
  }
  const { ret } = answer
  const onDevices = ['addDevice', 'removeDevice', 'devices'].includes(asked.do)
  // Engine not started yet, no answer from the node, join failed, or no node available.
  if (onDevices && [302, 303, 304, 310, 426, 427].includes(ret)) return { as: 'open', ret }
  if (!onDevices && (ret === 700 || ret === 409)) return { as: 'open', ret }
  if (asked.do === 'signIn' && ret === 504) return { as: 'open', ret }
  if (ret === (onDevices ? 424 : 404)) return { as: 'noRoom' }
  if (asked.do === 'create' && ret === 407) return { as: 'exists' }
  if (asked.do === 'addDevice' && ret === 423) return { as: 'exists' }
  if (asked.do === 'removeDevice' && ret === 425) return { as: 'noDevice' }
  if (ret !== 0) return wrong
  if (asked.do === 'get') {
    const { id, room_id, topic } = answer as { ret: number; id: number; room_id: string; topic: string }
    return room_id === asked.room ? { as: 'done', seen: { room: room_id, topic, id } } : wrong
  }
  if (asked.do === 'devices') {
    const { data } = answer as { ret: number; data: { items: { userId: string }[] } }
    return { as: 'done', users: data.items.map(({ userId }) => userId) }
  }
  return { as: 'done' }
}

interface ListAnswer {
  ok: boolean
  value?: { total: number; items: { room_id: string; topic: string; id: number; owner_id: string }[] }
  error?: { code: string }
}

function listed(reply: { status: number; body: string }, wrong: Outcome): Outcome {
  let answer: ListAnswer
  try {
    answer = JSON.parse(reply.body) as ListAnswer
  } catch {
    return wrong
  }
  const { value } = answer
  if (value === undefined)
    return reply.status === 421 || reply.status >= 500 ? { as: 'open', ret: reply.status } : wrong
  if (value.items.length !== value.total) return wrong
  return { as: 'done', rooms: value.items.map(({ room_id, topic, id }): SeenRoom => ({ room: room_id, topic, id })) }
}

/** Reads the room_id of the room that a call created. */
export function roomIdOf(reply: Reply): string {
  return reply.as === 'answer' ? String((JSON.parse(reply.body) as Answer).room_id) : ''
}

/** Reads the token of the session that a call opened. */
export function tokenOf(reply: Reply): string {
  const { random, key } = (reply.as === 'answer' ? JSON.parse(reply.body) : {}) as Answer
  return digestOf(credential.secret_key, `${String(random)}:${String(key)}`)
}
