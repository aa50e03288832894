import { limits } from '../../../../shared/limits.ts'
import type { ApiName } from '../../../../shared/result-codes.ts'
import type { Answer } from '../client.ts'
import { wellFormed } from '../operations.ts'
import { BrokenRuleError, contract, NotProvokedError, specification } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'

/** Keeps the connection open, so that the server's own close is seen. */
const keepAlive = { Connection: 'keep-alive' }
const json = { 'Content-Type': 'application/json' }
const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** Rules about requests as such: paths, escapes, limits, JSONP, CORS, bodies. */
export const requestRules: readonly Rule[] = [
  ...(['media', 'device'] as const).map(
    (api): Rule => ({
      id: `${api}.unknown-path`,
      sentence: `An unknown path is answered ${api === 'media' ? 408 : '401, and msg names it'}.`,
      source: api === 'media' ? specification('7.1') : contract('1'),
      check: async (trial) => {
        const answer = await trial.client.send(api, { method: 'GET', target: '/no/such/operation' }, trial.signal)
        expectRet(answer, api === 'media' ? 408 : 401)
        const { msg } = answer.fields
        if (api === 'device')
          trial.holds(String(msg).includes('/no/such/operation'), 'a msg that names the path', String(msg))
      },
    }),
  ),
  {
    id: 'path.case',
    sentence: 'Paths are case-sensitive.',
    source: contract('1'),
    check: (trial) => trial.refused('get_room', { room_id: trial.id() }, 'notSupported', { path: '/RTC/room/get' }),
  },
  {
    id: 'parameters.case',
    sentence: 'Names of parameters are case-sensitive: Topic is not topic.',
    source: specification('4'),
    check: async (trial) => {
      const { topic, ...rest } = wellFormed('create_room', '')
      await trial.refused('create_room', { ...rest, Topic: topic }, 'parameter', { names: 'topic' })
    },
  },
  {
    id: 'parameters.unknown',
    sentence: 'Unknown parameters are ignored: public clients send some.',
    source: contract('1'),
    check: async (trial) => {
      const unknown = { start_time: '', end_time: '', room_type: '1', __proto__x: 'x' }
      await trial.accepted('get_room', { room_id: trial.id(), ...unknown })
    },
  },
  refusedQuery('parameters.repeated', 'A repeated parameter is refused.', 'room_id=1&room_id=1', 'room_id'),
  refusedQuery(
    'parameters.repeated-token',
    'A repeated token is refused.',
    'room_id=1&access_token=a&access_token=a',
    'access_token',
  ),
  refusedQuery('parameters.broken-escape', 'A broken percent-escape is refused.', 'room_id=%zz', 'room_id'),
  refusedQuery('parameters.cut-escape', 'A percent-escape that is cut off is refused.', 'room_id=1%4', 'room_id'),
  refusedQuery('parameters.no-utf8', 'Escaped bytes that are not UTF-8 are refused.', 'room_id=%ff%fe', 'room_id'),
  refusedQuery('parameters.surrogate', 'An escaped lone surrogate is refused.', 'room_id=%ed%a0%80', 'room_id'),
  refusedQuery('parameters.nul', 'An escaped NUL is refused.', 'room_id=1%00', 'room_id'),
  refusedQuery('parameters.nul-name', 'A NUL in the name of an unknown parameter is refused.', 'room_id=1&x%00y=1'),
  {
    id: 'parameters.plus-is-space',
    sentence: 'An unescaped + of a query is a space.',
    source: contract('1'),
    check: async (trial) => {
      const { topic: _, ...rest } = wellFormed('create_room', '')
      const { room_id } = await trial.succeed('create_room', rest, { query: 'topic=Morning+meeting%2B' })
      trial.equal('topic', (await trial.prepare('get_room', { room_id })).topic, 'Morning meeting+')
    },
  },
  {
    id: 'request.long-target',
    sentence: 'A request target of more than 8 KiB is a parameter error, and the connection is closed.',
    source: contract('1'),
    check: async (trial) => {
      const answer = await trial.call('get_room', { room_id: 'x'.repeat(limits.requestTarget) }, { headers: keepAlive })
      expectRet(answer, 407)
      expectClose(answer)
    },
  },
  {
    id: 'request.long-body',
    sentence: 'A body of more than 64 KiB is a parameter error, and the connection is closed.',
    source: contract('1'),
    check: async (trial) => {
      const body = `roomId=${'x'.repeat(limits.requestBody)}`
      const answer = await trial.call('list_outgoing_users', {}, { body, headers: { ...form, ...keepAlive } })
      expectRet(answer, 401)
      expectClose(answer)
    },
  },
  {
    id: 'jsonp.wrapped',
    sentence: 'With callback and an Accept header the answer is /**/callback({…}); as text/javascript with nosniff.',
    source: contract('1'),
    check: async (trial) => {
      const { text, reply, exchange } = await script(trial, 'callback=client.onAnswer_1')
      const { 'content-type': type = '', 'x-content-type-options': sniff } = reply.headers
      const isScript = text.startsWith('/**/client.onAnswer_1({') && text.endsWith('});')
      if (!isScript || !type.startsWith('text/javascript') || sniff !== 'nosniff')
        throw new BrokenRuleError(
          '/**/client.onAnswer_1({…}); as text/javascript, nosniff',
          `${type}, ${String(sniff)}: ${exchange.came}`,
        )
    },
  },
  {
    id: 'jsonp.last-callback',
    sentence: 'Of several callbacks the last one counts: jQuery adds its own behind.',
    source: contract('1'),
    check: async (trial) => {
      const { text, exchange } = await script(trial, 'callback=test&callback=jQuery123_456')
      if (!text.startsWith('/**/jQuery123_456(')) throw new BrokenRuleError('/**/jQuery123_456({…});', exchange.came)
    },
  },
  {
    id: 'jsonp.without-accept',
    sentence: 'A request with callback but without Accept gets plain JSON: a public PHP client sends one.',
    source: contract('1'),
    check: async (trial) => {
      const answer = await trial.call('get_room', { room_id: trial.id() }, { query: 'callback=test' })
      if (!answer.text.startsWith('{')) throw new BrokenRuleError('plain JSON', answer.exchange.came)
    },
  },
  ...[
    { kind: 'call', callback: 'alert(1)' },
    { kind: 'markup', callback: '%3Cscript%3E' },
    { kind: 'long', callback: 'x'.repeat(limits.callback + 1) },
  ].map(
    ({ kind, callback }): Rule => ({
      id: `jsonp.invalid-${kind}`,
      sentence: `A callback that is no plain identifier path of 100 characters at most (${kind}) is a parameter error in plain JSON.`,
      source: contract('1'),
      check: async (trial) => {
        const answer = await script(trial, `callback=${callback}`)
        if (!answer.text.startsWith('{')) throw new BrokenRuleError('plain JSON', answer.exchange.came)
        expectRet(answer, 407)
      },
    }),
  ),
  {
    id: 'cors.open',
    sentence: 'CORS is open: Access-Control-Allow-Origin is *, and no credentials are allowed.',
    source: contract('1'),
    check: async (trial) => {
      const { reply } = await trial.call(
        'get_room',
        { room_id: trial.id() },
        { headers: { Origin: 'https://client.example' } },
      )
      const { 'access-control-allow-origin': origin, 'access-control-allow-credentials': credentials } = reply.headers
      if (origin === undefined) throw new NotProvokedError('a setting may narrow the origins')
      trial.holds(
        origin === '*' && credentials === undefined,
        'Access-Control-Allow-Origin: *',
        `${origin}, credentials ${credentials}`,
      )
    },
  },
  ...(['media', 'device'] as const).map(
    (api): Rule => ({
      id: `cors.preflight-${api}`,
      sentence: `A preflight of the ${api} API lists Authorization and Content-Type by name, since * does not cover them.`,
      source: contract('1'),
      check: (trial) => checkPreflight(trial, api),
    }),
  ),
  refusedBody('body.broken-json', 'A JSON body that is broken is refused.', '{"roomId":', json),
  refusedBody('body.json-list', 'A JSON body that is no object is refused.', '[]', json),
  refusedBody(
    'body.json-duplicate',
    'A JSON body that names a parameter twice is refused.',
    '{"roomId":"1","roomId":"1"}',
    json,
  ),
  refusedBody('body.json-control', 'A control character in a JSON body is refused.', '{"roomId":"a\\u0000b"}', json),
  refusedBody(
    'body.json-deep',
    'A JSON body nested a thousand levels deep is refused.',
    `{"x":${'['.repeat(1_000)}${']'.repeat(1_000)}}`,
    json,
  ),
  refusedBody('body.form-repeated', 'A form that repeats a parameter is refused.', 'roomId=1&roomId=1', form),
  refusedBody('body.form-escape', 'A broken escape in a form is refused.', 'roomId=%zz', form),
  refusedBody('body.other-type', 'A body of another content type is refused.', 'roomId=1', {
    'Content-Type': 'text/plain',
  }),
  refusedBody('body.charset', 'A body in another charset than UTF-8 is refused.', 'roomId=1', {
    'Content-Type': 'application/x-www-form-urlencoded; charset=iso-8859-1',
  }),
  {
    id: 'body.and-query',
    sentence: 'The same name in the query and in the body is a parameter error.',
    source: contract('4'),
    check: async (trial) => {
      const options = { as: 'form', query: 'roomId=1' } as const
      await trial.refused('list_outgoing_users', { roomId: '1' }, 'parameter', options)
    },
  },
  ...(['form', 'json'] as const).map(
    (as): Rule => ({
      id: `body.${as}`,
      sentence: `Parameters and token are taken from a body (${as === 'form' ? 'application/x-www-form-urlencoded' : 'JSON'}).`,
      source: contract('4'),
      check: async (trial) => {
        const { data } = await trial.succeed('list_outgoing_users', { roomId: trial.id() }, { as })
        trial.equal('total', data.total, 0)
      },
    }),
  ),
  {
    id: 'body.token-in-query',
    sentence: 'The token may be in the query while the other parameters are in the body.',
    source: contract('4'),
    check: async (trial) => {
      const query = `accessToken=${encodeURIComponent(trial.client.token)}`
      await trial.succeed('list_outgoing_users', { roomId: trial.id() }, { as: 'json', token: null, query })
    },
  },
  {
    id: 'body.json-number',
    sentence: 'In a JSON body a number is accepted as an id of digits.',
    source: contract('1'),
    check: async (trial) => {
      const { data } = await trial.succeed('list_outgoing_users', { roomId: 100_000_000_000 }, { as: 'json' })
      trial.equal('total', data.total, 0)
    },
  },
]

/** A rule about a query of get_room that is a parameter error. */
function refusedQuery(id: string, sentence: string, query: string, names?: string): Rule {
  return {
    id,
    sentence,
    source: contract('1'),
    check: (trial) => trial.refused('get_room', {}, 'parameter', { query, token: null, ...(names && { names }) }),
  }
}

/** A rule about a body that is a parameter error; the token is in the query. */
function refusedBody(id: string, sentence: string, body: string, headers: Record<string, string>): Rule {
  return {
    id,
    sentence,
    source: contract('4'),
    check: async (trial) => {
      const query = `accessToken=${encodeURIComponent(trial.client.token)}`
      await trial.refused('list_outgoing_users', {}, 'parameter', { body, headers, query, token: null })
    },
  }
}

function script(trial: Trial, query: string): Promise<Answer> {
  return trial.call('get_room', { room_id: trial.id() }, { query, headers: { Accept: '*/*' } })
}

function expectRet({ ret, exchange }: Answer, expected: number): void {
  if (ret === undefined) throw new NotProvokedError(`the answer cannot be read: ${exchange.came}`)
  if (ret !== expected) throw new BrokenRuleError(`ret ${expected}`, exchange.came)
}

function expectClose({ reply, exchange }: Answer): void {
  if (!reply.closes)
    throw new BrokenRuleError('Connection: close', `Connection: ${reply.headers.connection}. ${exchange.came}`)
}

async function checkPreflight(trial: Trial, api: ApiName): Promise<void> {
  const headers = { Origin: 'https://client.example', 'Access-Control-Request-Method': 'GET' }
  const request = { method: 'OPTIONS', target: '/any/path', headers }
  const { reply } = await trial.client.send(api, request, trial.signal)
  if (reply.headers['access-control-allow-origin'] === undefined)
    throw new NotProvokedError('a setting may narrow the origins')
  const allowed = (reply.headers['access-control-allow-headers'] ?? '').toLowerCase().split(/, */)
  const isListed = allowed.includes('authorization') && allowed.includes('content-type')
  trial.holds(isListed, 'Access-Control-Allow-Headers with Authorization and Content-Type', allowed.join(', '))
}
