import { z } from 'zod'
import { limits } from '../limits.ts'
import { nothing, procedure } from './procedure.ts'

/** Place of the parameters in a tried request. A GET takes `query` only. */
export const testerEncodings = ['query', 'form', 'json'] as const
export type TesterEncoding = (typeof testerEncodings)[number]

/** One parameter as JSON Schema; `description` holds a rule that a schema cannot say, in English words. */
const parameterSchema = z.record(z.string(), z.unknown())

/** One operation of an API as a form needs it. */
const testerOperation = z.strictObject({
  api: z.enum(['media', 'device']),
  name: z.string(),
  path: z.string(),
  methods: z.array(z.enum(['GET', 'POST'])),
  /** English; the console words it by name. */
  summary: z.string(),
  /** Beyond the specification. */
  extension: z.boolean(),
  /** The setting in `compatibility` without which it is not answered: only clients of the original platform have it. Empty: it always is. */
  setting: z.enum(['', 'older_clients', 'get_access_token']),
  /** Name under which the token travels; empty: the operation needs none. */
  token: z.string(),
  /** Its own parameters, in the order of the specification. */
  parameters: z.array(z.strictObject({ name: z.string(), required: z.boolean(), schema: parameterSchema })),
})
export type TesterOperation = z.output<typeof testerOperation>

/**
 * The console's API tester. The page's content security policy lets it reach its own origin only, so the controller sends
 * the request for it: over HTTP, through the listener, as an outside client would.
 */
export const testerProcedures = {
  'tester.operations': procedure(
    'Every operation of both APIs, with its parameters.',
    nothing,
    z.array(testerOperation),
  ),
  'tester.send': procedure(
    'Send one request through an API listener, as an outside client would, and show both sides of it.',
    z.strictObject({
      api: z.enum(['media', 'device']),
      /** Name of the operation. */
      operation: z.string().min(1).max(64),
      /** Key pair whose proof is added to the operation (the digest, or the token of a session); empty adds nothing. */
      access_key: z.string().max(limits.accessKey).default(''),
      /** As the caller writes them; a name given here is not added again. `options` holds JSON text. */
      params: z.record(z.string().max(64), z.string().max(limits.deviceOptions)),
      method: z.enum(['GET', 'POST']).default('GET'),
      encoding: z.enum(testerEncodings).default('query'),
    }),
    z.strictObject({
      /** The exchange as it was on the wire: request line, headers, body. Its token is a live one, so that it can be sent again. */
      request: z.string(),
      /** Absolute URL with the query. */
      url: z.string(),
      status: z.int(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      milliseconds: z.number(),
    }),
  ),
}
