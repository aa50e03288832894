import type { Alter, ProxiedAnswer, ProxiedCall } from './altering-proxy.ts'

/** A defect of a server: what it does, and the rule that must find it. */
export interface SeededDefect {
  does: string
  rule: string
  alter: Alter
}

type Fields = Record<string, unknown>

/** Paths of operations, by name. */
const paths = {
  authenticate: '/rtc/auth/valid',
  create_room: '/rtc/room/create',
  get_room: '/rtc/room/get',
  delete_room: '/rtc/room/del',
  get_mcu: '/sdk/get_mcu',
  list_users: '/rtc/room/get_room_info',
  force_offline: '/rtc/force_offline_mcu',
  create_outgoing_user: '/avd/api/outgoing/createOutgoingUser',
  destroy_outgoing_user: '/avd/api/outgoing/destroyOutgoingUser',
  list_outgoing_users: '/avd/api/outgoing/getOutgoingUsers',
} as const
type Operation = keyof typeof paths

/** Changes the fields of an operation's answers; `undefined` leaves an answer as it is. */
function fields(operation: Operation, change: (fields: Fields, call: ProxiedCall) => Fields | undefined): Alter {
  return async (call) => {
    const answer = await call.forward()
    if (call.path !== paths[operation] || !answer.body.startsWith('{')) return answer
    const changed = change(JSON.parse(answer.body) as Fields, call)
    return changed === undefined ? answer : { ...answer, body: JSON.stringify(changed) }
  }
}

/** Replaces one result code of an operation by another. */
function code(
  operation: Operation,
  from: number,
  to: number,
  when: (call: ProxiedCall) => boolean = () => true,
): Alter {
  return fields(operation, (given, call) =>
    given.ret === from && when(call) ? { ret: to, msg: 'Something is wrong.' } : undefined,
  )
}

/** Answers with a success what the server refuses. */
function accepts(
  operation: Operation,
  refusal: number,
  success: Fields,
  when: (call: ProxiedCall) => boolean = () => true,
): Alter {
  return fields(operation, (given, call) => (given.ret === refusal && when(call) ? { ret: 0, ...success } : undefined))
}

/** Changes each answer of an operation as a whole. */
function whole(operation: Operation, change: (answer: ProxiedAnswer) => ProxiedAnswer): Alter {
  return async (call) => {
    const answer = await call.forward()
    return call.path === paths[operation] ? change(answer) : answer
  }
}

/** Changes requests of an operation on their way to the server. */
function request(operation: Operation, change: (call: ProxiedCall) => Parameters<ProxiedCall['forward']>[0]): Alter {
  return (call) => call.forward(call.path === paths[operation] ? change(call) : {})
}

/** Fails the connection of calls. */
function connection(operation: Operation, fault: 'reset' | 'endless' | 'half'): Alter {
  return (call) => (call.path === paths[operation] ? Promise.resolve(fault) : call.forward())
}

const session = { random: 'r'.repeat(32), key: 'k'.repeat(32) }
const bytesOf = (call: ProxiedCall, name: string): number => Buffer.byteLength(call.params.get(name) ?? '')

/** Remembers a token that the server accepts, and uses it for calls whose own token is wrong. */
function anyToken(operation: Operation, when: (call: ProxiedCall) => boolean): Alter {
  let token = ''
  return async (call) => {
    const answer = await call.forward()
    const given = call.params.get('access_token') ?? call.params.get('accessToken') ?? ''
    if (answer.body.startsWith('{"ret":0') && given !== '') token = given
    if (call.path !== paths[operation] || !answer.body.startsWith('{"ret":602') || !when(call)) return answer
    call.params.set('access_token', token)
    return await call.forward({ query: call.params.toString() })
  }
}

/** Makes an alteration that counts its turns from 0; those of another defect do not shift them. */
function inTurns(make: (turn: () => number) => Alter): Alter {
  let turns = 0
  return make(() => turns++)
}

/** Defects that a server may have, one each. */
export const seededDefects: readonly SeededDefect[] = [
  { does: 'answers 407 for an unknown room', rule: 'get_room.unknown-room', alter: code('get_room', 404, 407) },
  {
    does: 'leaves out a field',
    rule: 'get_room.fields',
    alter: fields('get_room', ({ topic: _, ...rest }) => ('id' in rest ? rest : undefined)),
  },
  {
    does: 'adds a field',
    rule: 'create_room.fields',
    alter: fields('create_room', (given) => ({ ...given, extra: 1 })),
  },
  {
    does: 'sends a number as text',
    rule: 'get_room.fields',
    alter: fields('get_room', (given) => ('id' in given ? { ...given, id: String(given.id) } : undefined)),
  },
  {
    does: 'sends ret as text',
    rule: 'answer.ret',
    alter: fields('list_users', (given) => ({ ...given, ret: String(given.ret) })),
  },
  {
    does: 'accepts a wrong digest',
    rule: 'authenticate.digest-wrong',
    alter: accepts('authenticate', 401, session, ({ params }) => params.get('digest') !== null),
  },
  {
    does: 'accepts an unknown access_key',
    rule: 'authenticate.access-key-unknown',
    alter: accepts(
      'authenticate',
      401,
      session,
      ({ params }) => params.get('access_key')?.startsWith('conformance-') === true,
    ),
  },
  {
    does: 'accepts a missing digest',
    rule: 'authenticate.digest-missing',
    alter: accepts('authenticate', 401, session, ({ params }) => !params.has('digest')),
  },
  { does: 'answers 407 for a wrong digest', rule: 'authenticate.digest-wrong', alter: code('authenticate', 401, 407) },
  {
    does: 'accepts a digest only once',
    rule: 'authenticate.digest-again',
    alter: inTurns((turn) =>
      fields('authenticate', (given) =>
        given.ret === 0 && turn() > 1 ? { ret: 401, msg: 'This digest was used.' } : undefined,
      ),
    ),
  },
  {
    does: 'hands out short random texts',
    rule: 'authenticate.random',
    alter: fields('authenticate', (given) => (given.ret === 0 ? { ...given, random: '1234' } : undefined)),
  },
  {
    does: 'accepts a token made with another secret',
    rule: 'token.of-other-secret',
    alter: anyToken('get_room', () => true),
  },
  {
    does: 'needs no token',
    rule: 'get_room.token.missing',
    alter: anyToken('get_room', ({ params }) => !params.has('access_token')),
  },
  {
    does: 'does not check a token',
    rule: 'delete_room.token.wrong',
    alter: anyToken('delete_room', ({ params }) => params.has('access_token')),
  },
  {
    does: 'answers 602 on the device API',
    rule: 'list_outgoing_users.token.wrong',
    alter: code('list_outgoing_users', 401, 602),
  },
  {
    does: 'does not know the misspelled name of the token',
    rule: 'get_room.token.as-access_tocken',
    alter: fields('get_room', (_, { params }) =>
      params.has('access_tocken') ? { ret: 602, msg: 'The token is missing.' } : undefined,
    ),
  },
  {
    does: 'accepts a topic of 150 bytes',
    rule: 'create_room.topic.too-long',
    alter: accepts('create_room', 407, { room_id: '100000001' }, (call) => bytesOf(call, 'topic') > 149),
  },
  {
    does: 'counts characters, not bytes',
    rule: 'create_room.topic.too-many-bytes',
    alter: accepts(
      'create_room',
      407,
      { room_id: '100000001' },
      (call) => bytesOf(call, 'topic') > 149 && (call.params.get('topic') ?? '').length < 150,
    ),
  },
  {
    does: 'refuses a topic of 149 bytes',
    rule: 'create_room.topic.returned',
    alter: fields('create_room', (_, call) =>
      bytesOf(call, 'topic') === 149 ? { ret: 407, msg: 'topic is too long.' } : undefined,
    ),
  },
  {
    does: 'accepts room_mode 5',
    rule: 'create_room.room_mode.above',
    alter: accepts('create_room', 407, { room_id: '100000001' }, ({ params }) => params.get('room_mode') === '5'),
  },
  {
    does: 'accepts a missing owner',
    rule: 'create_room.owner_id.missing',
    alter: accepts('create_room', 407, { room_id: '100000001' }, ({ params }) => !params.has('owner_id')),
  },
  {
    does: 'does not name the wrong parameter',
    rule: 'create_room.names-parameter',
    alter: fields('create_room', (given) => (given.ret === 407 ? { ret: 407, msg: 'A value is wrong.' } : undefined)),
  },
  {
    does: 'ignores a second value of a parameter',
    rule: 'parameters.repeated',
    alter: request('get_room', ({ query }) => ({
      query: query.replace('room_id=1&room_id=1', 'room_id=1&access_token=x'),
    })),
  },
  {
    does: 'accepts a second room with the same id',
    rule: 'create_room.extend-id.duplicate',
    alter: accepts(
      'create_room',
      407,
      { room_id: '100000001' },
      ({ params }) => params.get('room_extend_id')?.startsWith('conformance-') === true,
    ),
  },
  {
    does: 'lets two of the calls at the same time win',
    rule: 'parallel.create_room.duplicate',
    alter: inTurns((turn) => accepts('create_room', 407, { room_id: '100000001' }, () => turn() % 7 === 0)),
  },
  {
    does: 'deletes a room twice',
    rule: 'delete_room.deleted-room',
    alter: accepts('delete_room', 404, { room_id: '100000001' }),
  },
  {
    does: 'answers 404 after 602',
    rule: 'order.get_room.token-before-room',
    alter: code('get_room', 602, 404, ({ params }) => params.has('room_id')),
  },
  {
    does: 'checks the token before the parameters',
    rule: 'order.create_room.parameters-before-token',
    alter: code('create_room', 407, 602, ({ params }) => !params.has('topic')),
  },
  {
    does: 'does not store the password',
    rule: 'create_room.password.returned',
    alter: fields('get_room', (given) => ('host_password' in given ? { ...given, host_password: '' } : undefined)),
  },
  {
    does: 'says that a new room is open',
    rule: 'get_room.new',
    alter: fields('get_room', (given) => ('room_status' in given ? { ...given, room_status: 1 } : undefined)),
  },
  {
    does: 'gives rooms the same internal id',
    rule: 'get_room.id',
    alter: fields('get_room', (given) => ('id' in given ? { ...given, id: 7 } : undefined)),
  },
  {
    does: 'sends an address with a scheme',
    rule: 'get_mcu.success',
    alter: fields('get_mcu', (given) =>
      given.ret === 0 ? { ...given, addr: `ws://${String(given.addr)}` } : undefined,
    ),
  },
  {
    does: 'moves a room with each question',
    rule: 'get_mcu.again',
    alter: inTurns((turn) =>
      fields('get_mcu', (given) => (given.ret === 0 ? { ...given, addr: `10.0.0.${turn() % 9}:7082` } : undefined)),
    ),
  },
  {
    does: 'removes nobody with success',
    rule: 'force_offline.nobody',
    alter: accepts('force_offline', 429, { msg: 'success' }),
  },
  {
    does: 'answers 429 for a room that never had an MCU',
    rule: 'force_offline.never-assigned',
    alter: code('force_offline', 428, 429),
  },
  {
    does: 'answers with HTTP 404',
    rule: 'answer.http-status',
    alter: whole('force_offline', (answer) => ({ ...answer, status: answer.body.startsWith('{"ret":0') ? 200 : 404 })),
  },
  {
    does: 'sends text/html',
    rule: 'answer.content-type',
    alter: whole('list_users', (answer) => ({
      ...answer,
      headers: { ...answer.headers, 'content-type': 'text/html' },
    })),
  },
  {
    does: 'lets answers be cached',
    rule: 'answer.no-store',
    alter: whole('list_users', ({ headers: { 'cache-control': _, ...headers }, ...answer }) => ({
      ...answer,
      headers,
    })),
  },
  {
    does: 'sends JSON with bytes behind it',
    rule: 'answer.json',
    alter: whole('list_users', (answer) => ({ ...answer, body: `${answer.body}\n<!-- -->` })),
  },
  {
    does: 'has failures without msg',
    rule: 'answer.failure-fields',
    alter: fields('force_offline', ({ ret }) => (ret === 0 ? undefined : { ret })),
  },
  {
    does: 'repeats the token in a msg',
    rule: 'answer.no-secret',
    alter: fields('force_offline', (given, { params }) =>
      given.ret === 0 ? undefined : { ...given, msg: `${params.get('access_token')} may not.` },
    ),
  },
  { does: 'answers with a code that nobody knows', rule: 'answer.code', alter: code('force_offline', 429, 500) },
  {
    does: 'wraps JSON for a caller without Accept',
    rule: 'jsonp.without-accept',
    alter: request('get_room', ({ headers }) => ({ headers: { ...headers, accept: '*/*' } })),
  },
  {
    does: 'takes POST',
    rule: 'get_room.method',
    alter: request('get_room', ({ query }) => ({ method: 'GET', query: `${query}&access_token=x` })),
  },
  {
    does: 'answers an unknown path with 404',
    rule: 'media.unknown-path',
    alter: async (call) =>
      call.path.startsWith('/no/')
        ? { ...(await call.forward()), body: '{"ret":404,"msg":"Not found."}' }
        : await call.forward(),
  },
  {
    does: 'resets the connection at a broken escape',
    rule: 'parameters.broken-escape',
    alter: async (call) => (call.query.includes('%zz') ? 'reset' : await call.forward()),
  },
  {
    does: 'shows the password of a camera',
    rule: 'list_outgoing_users.password',
    alter: whole('list_outgoing_users', (answer) => ({
      ...answer,
      body: answer.body.replaceAll('******', 'conformance-camera-password'),
    })),
  },
  {
    does: 'counts wrongly',
    rule: 'list_outgoing_users.order',
    alter: fields('list_outgoing_users', (given) => ({
      ...given,
      ...(given.ret === 0 && { data: { ...(given.data as Fields), total: 99 } }),
    })),
  },
  {
    does: 'ignores the room of a list',
    rule: 'list_outgoing_users.order',
    alter: request('list_outgoing_users', ({ params }) => ({
      query: `accessToken=${encodeURIComponent(params.get('accessToken') ?? '')}`,
    })),
  },
  {
    does: 'adds a device twice',
    rule: 'create_outgoing_user.duplicate',
    alter: fields('create_outgoing_user', (given, { params }) =>
      given.ret === 423 ? { ret: 0, data: { roomId: params.get('roomId'), userId: params.get('userId') } } : undefined,
    ),
  },
  {
    does: 'adds a device that cannot be reached',
    rule: 'create_outgoing_user.refused',
    alter: fields('create_outgoing_user', (given, { params }) =>
      given.ret === 426 ? { ret: 0, data: { roomId: params.get('roomId'), userId: params.get('userId') } } : undefined,
    ),
  },
  {
    does: 'removes a device by another address',
    rule: 'destroy_outgoing_user.other-address',
    alter: fields('destroy_outgoing_user', (given, { params }) =>
      given.ret === 425 ? { ret: 0, data: { roomId: params.get('roomId'), userId: params.get('userId') } } : undefined,
    ),
  },
  {
    does: 'leaves out the userId of a device',
    rule: 'create_outgoing_user.fields',
    alter: fields('create_outgoing_user', (given) =>
      given.ret === 0 ? { ret: 0, data: { roomId: (given.data as Fields).roomId } } : undefined,
    ),
  },
  { does: 'sends answers without an end', rule: 'list_users.empty', alter: connection('list_users', 'endless') },
  {
    does: 'closes the connection in the middle of an answer',
    rule: 'list_users.empty',
    alter: connection('list_users', 'half'),
  },
  { does: 'resets connections', rule: 'list_users.empty', alter: connection('list_users', 'reset') },
]
