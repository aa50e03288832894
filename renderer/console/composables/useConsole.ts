import { type App, effectScope, inject, type InjectionKey } from 'vue'
import type { ConsoleClient } from '../../kit/transport/client.ts'

const key: InjectionKey<ConsoleClient> = Symbol('console')

/** Provides an app with the client of its controller. */
export function installConsole(app: App, client: ConsoleClient): void {
  app.provide(key, client)
}

/** Returns the controller's client. */
export function useConsole(): ConsoleClient {
  const client = inject(key)
  if (!client) throw new Error('installConsole was not called')
  return client
}

/** Returns a composable whose state is created at its first use and shared by all components of one console. */
export function sharedState<T extends object>(make: (client: ConsoleClient) => T): () => T {
  const made = new WeakMap<ConsoleClient, T>()
  return () => {
    const client = useConsole()
    const there = made.get(client)
    if (there) return there
    const state = effectScope(true).run(() => make(client))
    if (!state) throw new Error('the scope was stopped')
    made.set(client, state)
    return state
  }
}
