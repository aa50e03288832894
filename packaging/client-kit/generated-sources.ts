import { parametersSchema, successSchema } from '../../server/http/openapi.ts'
import { deviceOperations } from '../../shared/device-operations.ts'
import { mediaOperations } from '../../shared/media-operations.ts'
import type { OperationContract } from '../../shared/operation.ts'
import { type ApiName, errorNames, retOf, sentenceOf } from '../../shared/result-codes.ts'
import { digestForms } from '../../shared/settings/network.ts'
import { typeText } from './type-text.ts'

const apis = ['media', 'device'] as const satisfies readonly ApiName[]
/** Operations of the kit. Those for clients of the original platform are off by default. */
const contracts: readonly OperationContract[] = [...mediaOperations, ...deviceOperations]

const head = '// Generated from the contract in shared/ by `npm run client-kit`: do not edit.\n\n'

/** Sources of the kit that are derived from the contract, by file, not yet formatted. */
export const generatedSources: Readonly<Record<string, () => string>> = {
  'types.ts': () =>
    head + contracts.flatMap((contract) => [parametersText(contract), answerText(contract)]).join('\n\n'),
  'operations.ts': () => `${head}import type * as types from './types.ts'\n\n${tableText()}\n\n${classText()}`,
  'result-codes.ts': () => `${head}import type { ApiName } from './operations.ts'\n\n${codesText()}`,
}

/** Name of an operation in the kit, such as `createRoom` for `create_room`. */
function methodName({ name }: OperationContract): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function typeName(contract: OperationContract): string {
  const name = methodName(contract)
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

function parametersText(contract: OperationContract): string {
  const { properties, required } = parametersSchema(contract)
  return [
    `/** Parameters of \`${methodName(contract)}\`. */`,
    `export type ${typeName(contract)}Parameters = ${typeText({ type: 'object', properties, required })}`,
  ].join('\n')
}

function answerText(contract: OperationContract): string {
  const same = contracts.find(({ success }) => success === contract.success) ?? contract
  const type = same === contract ? typeText(successSchema(contract)) : `${typeName(same)}Answer`
  return [`/** Answer of \`${methodName(contract)}\`. */`, `export type ${typeName(contract)}Answer = ${type}`].join(
    '\n',
  )
}

function tableText(): string {
  const rows = contracts.map((contract) => {
    const { api, path, token, safe } = contract
    return `${methodName(contract)}: ${JSON.stringify({ api, path, token: token?.[0] ?? null, safe })},`
  })
  const types = contracts.map(
    (contract) =>
      `${methodName(contract)}: { parameters: types.${typeName(contract)}Parameters; answer: types.${typeName(contract)}Answer }`,
  )
  return `export type ApiName = ${apis.map((api) => `'${api}'`).join(' | ')}

/** Description of an operation. */
export interface Operation {
  api: ApiName
  path: string
  /** Name of the token parameter; null: no token is required. */
  token: string | null
  /** Whether the operation may be repeated after a lost answer. */
  safe: boolean
}

export const operations = {
  ${rows.join('\n')}
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof operations

/** Types of each operation. */
export interface OperationTypes {
  ${types.join('\n')}
}`
}

function codesText(): string {
  const tables = apis.map((api) => {
    const rows = errorNames.flatMap((name) => {
      const ret = retOf(api, name)
      return ret === undefined ? [] : [`/** ${sentenceOf(name)} */\n${name}: ${ret},`]
    })
    return `${api}: {\n${rows.join('\n')}\n},`
  })
  return `/** Result codes of failures on each API. A code may stand for several errors. */
export const resultCodes = {
  ${tables.join('\n')}
} as const satisfies Record<ApiName, Record<string, number>>

/** Name of an error. */
export type ErrorName = keyof (typeof resultCodes)['media'] | keyof (typeof resultCodes)['device']

/** Forms of a digest: the hash, and whether its hexadecimal text or its bytes are encoded in base64. */
export const digestForms = ${JSON.stringify(digestForms)} as const

export type DigestForm = (typeof digestForms)[number]`
}

function classText(): string {
  const methods = contracts.map((contract) => {
    const { summary, path, extension } = contract
    const [name, type] = [methodName(contract), typeName(contract)]
    const { required } = parametersSchema(contract)
    const given = `parameters: types.${type}Parameters${required.length === 0 ? ' = {}' : ''}`
    const beyond = extension === true ? 'Beyond the specification: ' : ''
    return `/** ${summary} ${beyond}\`${path}\` */
  ${name}(${given}, signal?: AbortSignal): Promise<types.${type}Answer> {
    return this.call('${name}', parameters, signal)
  }`
  })
  return `/** A method for each operation. All reject as \`call\` does. */
export abstract class Operations {
  abstract call<N extends OperationName>(
    name: N,
    parameters: OperationTypes[N]['parameters'],
    signal?: AbortSignal,
  ): Promise<OperationTypes[N]['answer']>

  ${methods.join('\n\n')}
}`
}
