import type { OperationContract } from '../../../../shared/operation.ts'
import { retOf } from '../../../../shared/result-codes.ts'
import { checkedOperations, codeOf, type OperationName, wellFormed } from '../operations.ts'
import { contract, NotProvokedError, specification } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'

type Checked = OperationContract & { name: OperationName }

const guarded = checkedOperations.filter(({ token }) => token !== null)

/** Token that no session has. */
const wrongToken = Buffer.from('0'.repeat(40)).toString('base64')

/** Rules about the token of each operation, and about its methods. */
export const tokenRules: readonly Rule[] = [
  ...guarded.flatMap((operation) => [
    ...['missing', 'wrong'].map((kind) => refusedToken(operation, kind === 'missing' ? null : wrongToken, kind)),
    ...(operation.token ?? []).map((name, index) => namedToken(operation, name, index)),
  ]),
  ...checkedOperations.map(unknownMethod),
  {
    id: 'token.case',
    sentence: 'A token is case-sensitive.',
    source: specification('5'),
    check: async (trial) => {
      const { token } = trial.client
      const swapped = token.replace(/[a-z]/gi, (letter) =>
        letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
      )
      await trial.refused('get_room', { room_id: trial.id() }, 'tokenIncorrect', { token: swapped })
    },
  },
  {
    id: 'token.empty',
    sentence: 'An empty token is a missing one: 602.',
    source: contract('2'),
    check: (trial) => trial.refused('get_room', { room_id: trial.id() }, 'tokenIncorrect', { token: '' }),
  },
]

function refusedToken(operation: Checked, token: string | null, kind: string): Rule {
  const { name, api, extension } = operation
  return {
    id: `${name}.token.${kind}`,
    sentence: `${name} with a ${kind} token is refused with ${codeOf(name, 'tokenIncorrect')}.`,
    source: kind === 'wrong' && api === 'media' && extension !== true ? specification('5') : contract('2'),
    check: async (trial) => {
      await needsOperation(trial, name)
      await trial.refused(name, wellFormed(name, trial.id()), 'tokenIncorrect', { token })
    },
  }
}

function namedToken({ name, extension }: Checked, tokenName: string, index: number): Rule {
  return {
    id: `${name}.token.as-${tokenName}`,
    sentence: `${name} accepts the token as ${tokenName}.`,
    source: index === 0 && extension !== true ? specification('4') : contract('2'),
    check: async (trial) => {
      await needsOperation(trial, name)
      await trial.acceptedToken(name, wellFormed(name, trial.id()), { tokenName })
    },
  }
}

function unknownMethod({ name, api, methods, extension }: Checked): Rule {
  const method = methods.includes('POST') ? 'PUT' : 'POST'
  return {
    id: `${name}.method`,
    sentence: `${method} is not supported: ${name} is ${methods.join(' or ')}, and answers ${retOf(api, 'notSupported')}.`,
    source: api === 'media' && extension !== true ? specification('4.1') : contract('1'),
    check: async (trial) => {
      await needsOperation(trial, name)
      await trial.refused(name, wellFormed(name, trial.id()), 'notSupported', { method, token: null })
    },
  }
}

/** Operations beyond the specification that the server has, by client. */
const offered = new WeakMap<object, Map<OperationName, boolean>>()

/**
 * Leaves a rule unproven if the server does not have its operation, which is beyond the specification.
 * @throws NotProvokedError
 */
export async function needsOperation(trial: Trial, name: OperationName): Promise<void> {
  const operation = checkedOperations.find((one) => one.name === name)
  if (operation?.extension !== true) return
  const known = offered.get(trial.client) ?? new Map<OperationName, boolean>()
  offered.set(trial.client, known)
  if (!known.has(name)) {
    const { ret } = await trial.call(name, wellFormed(name, trial.id()), { token: null })
    known.set(name, ret !== codeOf(name, 'notSupported'))
  }
  if (known.get(name) === false)
    throw new NotProvokedError(`the server has no ${operation.path}, which is beyond the specification`)
}
