import { retOf, type ErrorName } from '../../../shared/result-codes.ts'
import { jsonObject } from '../client/api-call.ts'
import type { Observation } from './client.ts'
import { checkedOperations } from './operations.ts'
import { contract, type Source, specification } from './verdict.ts'

/** A rule that each answer of a run must follow. */
interface AnswerRule {
  id: string
  sentence: string
  source: Source
  /** Returns what was expected if an answer breaks the rule; undefined: it holds, or the rule is not about the answer. */
  fault: (observation: Observation, secret: (text: string) => boolean) => string | undefined
  /** Whether an answer is one that the rule is about; default: every answer. */
  applies?: (observation: Observation) => boolean
}

/** Maximum time of an answer, in milliseconds: public clients give up after 5 s. */
const maxAnswerMs = 5_000

const isReadable = ({ isScript, answer }: Observation): boolean =>
  !isScript && jsonObject(answer.reply.body) !== undefined
const isSuccess = ({ answer }: Observation): boolean => answer.ret === 0
const isFailure = (given: Observation): boolean => isReadable(given) && given.answer.ret !== 0

const general: readonly AnswerRule[] = [
  {
    id: 'answer.http-status',
    sentence: 'Every answer has HTTP status 200, whatever went wrong.',
    source: contract('1'),
    fault: ({ answer }) => (answer.reply.status === 200 ? undefined : 'HTTP 200'),
  },
  {
    id: 'answer.content-type',
    sentence: 'Content-Type is application/json; charset=utf-8.',
    source: contract('1'),
    applies: ({ isScript }) => !isScript,
    fault: ({ answer }) =>
      /^application\/json; ?charset=utf-8$/i.test(answer.reply.headers['content-type'] ?? '')
        ? undefined
        : `Content-Type: application/json; charset=utf-8, not ${answer.reply.headers['content-type'] ?? 'none'}`,
  },
  {
    id: 'answer.no-store',
    sentence: 'Cache-Control is no-store.',
    source: contract('1'),
    fault: ({ answer }) =>
      answer.reply.headers['cache-control'] === 'no-store'
        ? undefined
        : `Cache-Control: no-store, not ${answer.reply.headers['cache-control'] ?? 'none'}`,
  },
  {
    id: 'answer.json',
    sentence: 'Every answer is one JSON object in UTF-8.',
    source: specification('1'),
    applies: ({ isScript }) => !isScript,
    fault: (given) => (isReadable(given) ? undefined : 'a JSON object in UTF-8'),
  },
  {
    id: 'answer.ret',
    sentence: '`ret` is a number.',
    source: specification('1'),
    applies: isReadable,
    fault: ({ answer }) => (Number.isSafeInteger(answer.fields.ret) ? undefined : 'a whole number as ret'),
  },
  {
    id: 'answer.failure-fields',
    sentence: 'A failure has the fields ret and msg, and no other; msg is one sentence.',
    source: contract('1'),
    applies: isFailure,
    fault: ({ answer: { fields } }) =>
      Object.keys(fields).sort().join() === 'msg,ret' && isSentence(fields.msg) ? undefined : 'ret and msg, a sentence',
  },
  {
    id: 'answer.no-secret',
    sentence: 'The msg of a failure holds no secret key, digest, token or password.',
    source: contract('1'),
    applies: isFailure,
    fault: ({ answer }, secret) => (secret(answer.text) ? 'no secret' : undefined),
  },
  {
    id: 'answer.code',
    sentence: 'An operation answers only with result codes of its table.',
    source: specification('7'),
    applies: ({ operation, isScript }) => operation !== undefined && !isScript,
    fault: ({ operation, answer, api }) => {
      const errors: readonly ErrorName[] = [...(operation?.errors ?? []), 'notSupported']
      const codes = [0, ...errors.map((name) => retOf(api, name))]
      return answer.ret === undefined || codes.includes(answer.ret)
        ? undefined
        : `one of ${[...new Set(codes)].join(', ')}`
    },
  },
  {
    id: 'answer.time',
    sentence: 'An answer takes at most 5 s, after which public clients give up.',
    source: contract('3'),
    applies: ({ operation }) => operation?.name !== 'create_outgoing_user',
    fault: ({ milliseconds }) => (milliseconds <= maxAnswerMs ? undefined : `an answer within ${maxAnswerMs} ms`),
  },
]

function isSentence(msg: unknown): boolean {
  return typeof msg === 'string' && /^[^\n]{3,500}$/.test(msg) && msg.trim() === msg
}

/** One rule per operation, about the fields of its successful response. */
const successFields = checkedOperations.map(
  ({ name, success, extension }): AnswerRule => ({
    id: `${name}.fields`,
    sentence: `A success of ${name} has exactly the fields ${['ret', ...Object.keys(success.shape)].join(', ')}, with their types.`,
    source: extension === true ? contract('3') : specification('4'),
    applies: (given) => given.operation?.name === name && isSuccess(given) && isReadable(given),
    fault: ({ answer }) => {
      const { ret: _, ...fields } = answer.fields
      const parsed = success.safeParse(fields)
      if (parsed.success) return undefined
      const problems = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')} ${message}`.trim())
      return `exactly ret, ${Object.keys(success.shape).join(', ')} (${problems.join('; ')})`
    },
  }),
)

export const answerRules: readonly AnswerRule[] = [...general, ...successFields]
