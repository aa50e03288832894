// Resolves `electron`, imported or required, to the module beside this one.
import { registerHooks } from 'node:module'

const url = new URL('./electron.mjs', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' || specifier.startsWith('electron/')
      ? { url, format: 'module', shortCircuit: true }
      : next(specifier, context),
})
