import { ConsoleError } from '../../shared/console/procedure.ts'
import type { testerProcedures } from '../../shared/console/tester.ts'
import { deviceOperations } from '../../shared/device-operations.ts'
import { authenticate, mediaOperations } from '../../shared/media-operations.ts'
import type { OperationContract } from '../../shared/operation.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Credentials } from '../access/credentials.ts'
import { digestText, hmacKey } from '../access/digest.ts'
import type { ListenerName } from '../http/listeners.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'
import type { z } from 'zod'

type Request = z.output<(typeof testerProcedures)['tester.send']['input']>
type Answer = z.output<(typeof testerProcedures)['tester.send']['output']>

/** What the API tester works with. */
export interface TesterParts {
  credentials: Credentials
  settings: () => Settings
  url: (listener: ListenerName) => string
}

const operations: readonly OperationContract[] = [...mediaOperations, ...deviceOperations]
const deadline = 10_000
const longestBody = 256 * 1024

/** The API tester: it sends a request through the listener, over HTTP, as an outside client would. */
export function testerHandlers(parts: TesterParts): Handlers<ProceduresOf<'tester'>> {
  return {
    'tester.send': async (request) => {
      const contract = operations.find(({ api, name }) => api === request.api && name === request.operation)
      if (contract === undefined) throw new ConsoleError('notFound', 'There is no such operation.')
      if (!contract.methods.includes(request.method))
        throw new ConsoleError('invalid', `${contract.name} does not take ${request.method}.`)
      if (request.method === 'GET' && request.encoding !== 'query')
        throw new ConsoleError('invalid', 'A GET carries its parameters in the query.')
      const params = { ...(await authorisation(parts, contract, request)), ...request.params }
      return send(base(parts, request.api) + contract.path, params, request)
    },
  }
}

function base(parts: TesterParts, api: 'media' | 'device'): string {
  const url = parts.url(api)
  if (url === '') throw new ConsoleError('failed', `The ${api} API does not listen.`)
  return url
}

/** The digest of an authentication, or the token of a session that is opened for it; nothing without a credential. */
async function authorisation(
  parts: TesterParts,
  contract: OperationContract,
  request: Request,
): Promise<Record<string, string>> {
  if (request.access_key === '') return {}
  const [form = 'sha1-hex'] = parts.settings().access.digest_forms
  const key = hmacKey(parts.credentials.reveal(request.access_key))
  const login = { access_key: request.access_key, digest: digestText(form, key, request.access_key) }
  if (contract.token === null) return login
  const [name = 'access_token'] = contract.token
  if (contract.token.some((alias) => alias in request.params)) return {}
  const response = await fetch(`${base(parts, 'media')}${authenticate.path}?${new URLSearchParams(login).toString()}`, {
    signal: AbortSignal.timeout(deadline),
  })
  const answer: unknown = await response.json()
  if (typeof answer === 'object' && answer !== null && 'random' in answer && 'key' in answer) {
    return { [name]: digestText(form, key, `${String(answer.random)}:${String(answer.key)}`) }
  }
  const msg = typeof answer === 'object' && answer !== null && 'msg' in answer ? String(answer.msg) : ''
  throw new ConsoleError('failed', `The credential could not authenticate: ${msg}`)
}

async function send(url: string, params: Record<string, string>, { method, encoding }: Request): Promise<Answer> {
  const query = new URLSearchParams(params).toString().replaceAll('+', '%20')
  const target = encoding === 'query' && query !== '' ? new URL(`${url}?${query}`) : new URL(url)
  const body = encoding === 'query' ? undefined : encoding === 'form' ? query : JSON.stringify(withObjects(params))
  const type = encoding === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': type }),
  }
  const began = performance.now()
  try {
    const response = await fetch(target, {
      method,
      headers,
      signal: AbortSignal.timeout(deadline),
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    return {
      request: [
        `${method} ${target.pathname}${target.search} HTTP/1.1`,
        `Host: ${target.host}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        '',
        body ?? '',
      ]
        .join('\n')
        .trimEnd(),
      url: target.href,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: text.slice(0, longestBody),
      milliseconds: Math.round((performance.now() - began) * 10) / 10,
    }
  } catch (error) {
    throw new ConsoleError('failed', 'The request got no answer.', { cause: error })
  }
}

/** In a JSON body `options` is an object; a text that is none stays as it is, so that its refusal can be tried too. */
function withObjects(params: Record<string, string>): Record<string, unknown> {
  if (params.options === undefined) return params
  try {
    return { ...params, options: JSON.parse(params.options) as unknown }
  } catch {
    return params
  }
}
