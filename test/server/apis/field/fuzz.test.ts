import fc from 'fast-check'
import { expect, test } from 'vitest'
import { optionsAsMeant } from '../../../../server/http/older-clients.ts'
import { readObjectText } from '../../../../server/http/parameters.ts'
import {
  createOutgoingUserOfOlderClients,
  createRoomOfOlderClients,
  destroyOutgoingUserOfOlderClients,
  fieldOperations,
  getMcuOfOlderClients,
  listOutgoingUsersOfOlderClients,
} from '../../../../shared/field-operations.ts'
import { countUsers, getRoomByExtendId } from '../../../../shared/media-operations.ts'
import type { OperationContract } from '../../../../shared/operation.ts'
import { liveSite } from '../../../support/sites/live-site.ts'

/** Writes JSON in single quotes, as some scripts do. */
function singleQuoted(value: unknown): string {
  return JSON.stringify(value).replace(/"((?:[^"\\]|\\.)*)"/g, (_text, inner: string) => {
    const written = inner.replace(/\\"|'/g, (quote) => (quote === "'" ? "\\'" : '"'))
    return `'${written}'`
  })
}

test('property: an object reads the same in single and in double quotes', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const wanted: unknown = JSON.parse(JSON.stringify(value))
      expect(readObjectText(JSON.stringify(value))).toEqual(wanted)
      expect(readObjectText(singleQuoted(value))).toEqual(wanted)
      expect(optionsAsMeant(JSON.stringify(value))).toBe(JSON.stringify(value))
    }),
  )
})

test('property: no text makes the reading of options throw, or grow beyond twice its length', () => {
  const pieces = fc.array(fc.constantFrom("'", '"', '\\', '{', '}', ':', ',', 'undefined', '\\u0027', 'a', ' '), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        pieces.map((parts) => parts.join('')),
      ),
      (text) => {
        expect((optionsAsMeant(text) ?? '').length).toBeLessThanOrEqual(2 * text.length)
        readObjectText(text)
      },
    ),
  )
})

test('Options of maximum length are read at once, however they are quoted', () => {
  const began = performance.now()
  for (const piece of ["'", '\\', "\\'", `'"`, "{'", '[', '"']) optionsAsMeant(piece.repeat(8192))
  expect(performance.now() - began).toBeLessThan(250)
})

const contracts: readonly OperationContract[] = [
  ...fieldOperations,
  createRoomOfOlderClients,
  getMcuOfOlderClients,
  createOutgoingUserOfOlderClients,
  destroyOutgoingUserOfOlderClients,
  listOutgoingUsersOfOlderClients,
  getRoomByExtendId,
  countUsers,
]
const names = [...new Set(contracts.flatMap(({ params }) => Object.keys(params.shape)))]
const values = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '0',
    'undefined',
    'null',
    '{}',
    '[]',
    "{'a':'b'}",
    "{'a':",
    '{"access_tocken":"x"}',
    '{"__proto__":{}}',
  ),
  fc.constantFrom('rtsp://10.0.0.8/a', 'full-access', 'a secret key of the tests', '会议', 'x'.repeat(200), '\\', "'"),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
)
const request = fc.record({
  contract: fc.constantFrom(...contracts),
  to: fc.constantFrom('media', 'device'),
  post: fc.boolean(),
  callback: fc.constantFrom('', 'callback=test', 'callback=test&callback=f', 'callback=?', 'callback=&callback=<'),
  token: fc.boolean(),
  params: fc.array(fc.tuple(fc.constantFrom(...names, 'access_tocken', 'token'), values), { maxLength: 8 }),
})

test('property: operations for older clients answer any input with a number and a reason, and log no error', async () => {
  const site = await liveSite()
  const { client, logged } = site
  site.settings().access.failures_per_minute = 0
  Object.assign(site.settings().compatibility, { older_clients: true, get_access_token: true })
  await fc.assert(
    fc.asyncProperty(request, async ({ contract, to, post, callback, token, params }) => {
      const pairs = params.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
      if (token) pairs.push(`${contract.token?.[0] ?? 'token'}=${encodeURIComponent(client.token)}`)
      const text = [callback, ...pairs].filter((pair) => pair !== '').join('&')
      const base = `${client[to]}${contract.path}`
      const answer = await fetch(post ? base : `${base}?${text}`, {
        method: post ? 'POST' : 'GET',
        headers: { accept: '*/*', ...(post ? { 'content-type': 'application/x-www-form-urlencoded' } : {}) },
        ...(post ? { body: text } : {}),
      })
      expect(answer.status).toBe(200)
      const body = (await answer.text()).replace(/^\/\*\*\/[\w$.]+\((.*)\);$/s, '$1')
      const { ret, msg, result, err } = JSON.parse(body) as Record<string, unknown>
      expect(Number.isInteger(ret)).toBe(true)
      expect(ret).not.toBe(700)
      if (ret !== 0) expect(msg).toMatch(/./)
      // Compares the device API on both ports; operations of the media port only are unknown on the device port.
      if (contract.api === 'device' || to === 'device') expect([result, err]).toEqual([ret, msg])
    }),
    { numRuns: 250 },
  )
  expect(logged).toEqual([])
})
