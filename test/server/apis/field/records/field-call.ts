import { expect } from 'vitest'
import { parseRaw } from '../../../../support/sites/api-site.ts'
import type { LiveSite } from '../../../../support/sites/live-site.ts'
import { sendRequest, type WireRequest } from '../requests.ts'

/** Requests of the record and live API as its clients send them. */

const json = ['Content-Type: application/json']
const form = ['Content-Type: application/x-www-form-urlencoded; charset=UTF-8']

/** An answer in both envelopes. */
export type FieldAnswer = Record<string, unknown> & {
  data: Record<string, unknown> & { items: Record<string, unknown>[] }
}

/** Sends a request to the media port, and reads its JSON. */
export async function call(site: LiveSite, request: Omit<WireRequest, 'to'>): Promise<FieldAnswer> {
  const { token } = site.client
  // Only queries and forms are percent-encoded.
  const plain =
    request.headers === json ? { body: request.body?.replace('"TOKEN"', () => JSON.stringify(token)) ?? '' } : {}
  const { status, body } = parseRaw(await sendRequest(site, { to: 'media', ...request, ...plain }))
  expect(status).toBe(200)
  return JSON.parse(body) as FieldAnswer
}

/** A request with a JSON body. */
export const post = (target: string, body: object): Omit<WireRequest, 'to'> => ({
  ...{ method: 'POST', target, headers: json },
  body: JSON.stringify({ accessToken: 'TOKEN', ...body }),
})

/** A request with a form. */
export const postForm = (target: string, fields: string): Omit<WireRequest, 'to'> => ({
  ...{ method: 'POST', target, headers: form },
  body: fields,
})
