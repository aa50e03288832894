// Resolves `electron`, imported or required, to the module beside this one.
import { registerHooks } from 'node:module'

const url = new URL('./electron.mjs', import.meta.url).href
const registered = Symbol.for('roomdesk.standin')

// Vitest loads this again for each test file of a process, whose every import would pass through one more hook.
if (!(registered in globalThis)) {
  globalThis[registered] = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'electron' || specifier.startsWith('electron/')
        ? { url, format: 'module', shortCircuit: true }
        : next(specifier, context),
  })
}
