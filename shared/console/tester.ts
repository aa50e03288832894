import { z } from 'zod'
import { limits } from '../limits.ts'
import { change, read } from './declare.ts'
import { emptyOutcome } from '../domain/outcome.ts'
import { signedIn, viewer } from './procedure-access.ts'
import { subject } from './procedure-events.ts'

/** Place of the parameters in a test request. GET requests use only `query`. */
export const testerEncodings = ['query', 'form', 'json'] as const
export type TesterEncoding = (typeof testerEncodings)[number]

/** Parameter as JSON Schema; `description` contains rules that a schema cannot express, in English. */
const parameterSchema = z.record(z.string(), z.unknown())

/** Operation of an API, as described to the tester's form. */
const testerOperation = z.strictObject({
  api: z.enum(['media', 'device']),
  name: z.string(),
  path: z.string(),
  methods: z.array(z.enum(['GET', 'POST'])),
  /** English summary; the console translates it by operation name. */
  summary: z.string(),
  /** Whether the operation is not part of the specification. */
  extension: z.boolean(),
  /**
   * Setting in `compatibility` that the operation requires, because only clients of the original platform use it;
   * empty: none.
   */
  setting: z.enum(['', 'older_clients', 'get_access_token']),
  /** Name of the token's parameter; empty: no token is required. */
  token: z.string(),
  /** Parameters of the operation, in the order of the specification. */
  parameters: z.array(z.strictObject({ name: z.string(), required: z.boolean(), schema: parameterSchema })),
  /** JSON Schema of a successful response, without `ret`. */
  answer: parameterSchema,
  /** Possible values of `ret` other than success, ascending. */
  rets: z.array(z.int()),
})
export type TesterOperation = z.output<typeof testerOperation>

/**
 * The console's API tester. The page's content security policy permits only its own origin, so the controller sends the
 * request: over HTTP, through the listener, like an external client.
 */
export const testerProcedures = {
  'tester.operations': read({
    summary: 'Every operation of both APIs, with its parameters, answer and result codes.',
    input: emptyOutcome,
    output: z.array(testerOperation),
    access: viewer('site:read'),
  }),
  'tester.send': change({
    summary: 'Send one request through an API listener, as an outside client would, and show both sides of it.',
    input: z.strictObject({
      api: z.enum(['media', 'device']),
      operation: z.string().min(1).max(64),
      /** Credential whose proof (the digest, or the token of a session) is added to the request; empty: none. */
      access_key: z.string().max(limits.accessKey).default(''),
      /**
       * Parameters as entered by the caller. A parameter that is specified here is not added again. `options` contains
       * JSON text.
       */
      params: z.record(z.string().max(64), z.string().max(limits.deviceOptions)),
      method: z.enum(['GET', 'POST']).default('GET'),
      encoding: z.enum(testerEncodings).default('query'),
    }),
    output: z.strictObject({
      /** Request as sent: request line, headers, body. It contains a valid token, so that it can be sent again. */
      request: z.string(),
      /** Absolute URL with the query. */
      url: z.string(),
      status: z.int(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      milliseconds: z.number(),
    }),
    // Being an admin is enough without a credential: any client can send such requests. With a credential, see `needs`.
    access: signedIn('admin'),
    // The response contains a token of the credential's session, its digest or its secret. Objects created by the
    // operation belong to the credential.
    needs: ({ access_key }) => ({ person: access_key !== '' }),
    // The API port records the request as that of a client. This event is for the response, which contains a valid
    // token, a digest or the secret itself.
    event: {
      outside: 'clients',
      subjects: ({ access_key }) => (access_key === '' ? [] : [subject.credential(access_key)]),
      facts: ({ operation }) => ({ operation }),
      kind: 'secret.shown',
    },
  }),
}
