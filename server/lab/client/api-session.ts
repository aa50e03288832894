import { sign } from '../../../clients/typescript/src/signature.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { authenticate } from '../../../shared/media-operations.ts'
import { digestForms } from '../../../shared/settings/network.ts'
import { CommandError } from '../command.ts'
import {
  type CallParameters,
  callRequest,
  httpCall,
  type HttpReply,
  jsonObject,
  NoReplyError,
  readRet,
} from './api-call.ts'
import type { Target } from './target.ts'

/** A signed-in client of both APIs, for commands that need success. */
export class ApiSession {
  readonly #target: Target
  readonly #token: string

  private constructor(target: Target, token: string) {
    this.#target = target
    this.#token = token
  }

  /** Signs in, in the first form of digests that the server accepts. @throws CommandError */
  static async open(target: Target, signal: AbortSignal): Promise<ApiSession> {
    const { accessKey, secretKey, media } = target
    for (const form of digestForms) {
      const digest = await sign(form, secretKey, accessKey)
      const signIn = callRequest(authenticate, { access_key: accessKey, digest }, { token: null })
      const { ret, random, key } = fieldsOf(media, await send(target, authenticate, signIn, signal))
      if (ret === 0) return new ApiSession(target, await sign(form, secretKey, `${String(random)}:${String(key)}`))
    }
    throw new CommandError(
      `${media.href} does not accept this key pair: check --access-key and --secret-key; after many failures wait a minute.`,
    )
  }

  /** Calls an operation. Returns the fields of its success. @throws CommandError */
  async call(
    operation: OperationContract,
    params: CallParameters,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const { [operation.api]: base } = this.#target
    const request = callRequest(operation, params, { token: this.#token })
    const fields = fieldsOf(base, await send(this.#target, operation, request, signal))
    if (fields.ret === 0) return fields
    throw new CommandError(
      `${base.href} refused ${operation.name} with ${fields.ret}: ${typeof fields.msg === 'string' ? fields.msg : ''}`,
    )
  }
}

async function send(
  target: Target,
  { api }: OperationContract,
  request: ReturnType<typeof callRequest>,
  signal: AbortSignal,
): Promise<HttpReply> {
  const { authorities, [api]: base } = target
  try {
    return await httpCall({ ...request, base, authorities, deadlineMs: undefined }, signal)
  } catch (error) {
    if (!(error instanceof NoReplyError)) throw error
    throw new CommandError(`The server ${base.href} ${error.message}.`, { cause: error })
  }
}

function fieldsOf(base: URL, { status, body }: HttpReply): Record<string, unknown> & { ret: number } {
  const fields = jsonObject(body) ?? {}
  const ret = readRet(fields)
  if (ret === undefined) throw new CommandError(`${base.href} is not the media room API: it answered HTTP ${status}.`)
  return { ...fields, ret }
}
