import type { CompatibilitySetting, OperationContract } from '../../shared/operation.ts'
import type { AnyOperation } from './operation.ts'
import { makeRoute, type Route } from './route.ts'

/** Enabled settings of `compatibility`. */
export type CompatibilitySwitches = Readonly<Record<CompatibilitySetting, boolean>>

/** Operations for clients of the original platform, and their switches. */
export interface Compatibility {
  /** Operations added to the listener. An operation with an existing path replaces the listener's own operation. */
  operations: readonly AnyOperation[]
  /** Returns the switches. Called per request: a change of the settings applies at once. */
  switches: () => CompatibilitySwitches
}

/** The operations of a listener, by path. */
export interface RouteTable {
  /** Whether clients of the original platform are served. */
  older: boolean
  routes: ReadonlyMap<string, Route>
  contracts: readonly OperationContract[]
}

/** Returns a function that selects the table in force; all possible tables are made in advance. */
export function routeTables(
  operations: readonly AnyOperation[],
  compatibility: Compatibility | undefined,
): () => RouteTable {
  const table = (more: readonly AnyOperation[], older: boolean): RouteTable => {
    const plain = new Set(operations.map(({ contract }) => contract.path))
    const byPath = new Map([...operations, ...more].map((operation) => [operation.contract.path, operation]))
    const routes = Array.from(byPath, ([path, operation]) => [path, makeRoute(operation, !plain.has(path))] as const)
    return { older, routes: new Map(routes), contracts: Array.from(byPath.values(), ({ contract }) => contract) }
  }
  const off = table([], false)
  if (compatibility === undefined) return () => off
  const { operations: more, switches } = compatibility
  const on = table(
    more.filter(({ contract }) => contract.setting !== 'get_access_token'),
    true,
  )
  const all = table(more, true)
  return () => {
    const { older_clients, get_access_token } = switches()
    return older_clients ? (get_access_token ? all : on) : off
  }
}
