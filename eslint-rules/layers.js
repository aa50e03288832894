import { dirname, relative, resolve, sep } from 'node:path'

/** From the ground up: a folder of `server/` may import those before it. */
const serverLayers = [
  ['edge'],
  ['store'],
  ['access'],
  ['nodes'],
  ['rooms'],
  ['devices'],
  ['http'],
  ['media-api', 'device-api'],
  ['field-api'],
  ['lab'],
  ['event-log'],
  ['console'],
  ['standby'],
]
/** Used by, and looking at, every layer. */
const serverEverywhere = ['observe']
/** The program of the embedded node: a process of its own. */
const serverAlone = ['media']

/** What each folder may import of ours, besides itself. */
const allowed = {
  shared: [],
  server: ['shared'],
  main: ['server', 'shared'],
  renderer: ['shared', 'assets'],
}
/** Packages that a folder may not import. */
const forbiddenPackages = {
  shared: /^(?!zod($|\/))/,
  server: /^(electron|vue|vue-router|vue-i18n|element-plus|uplot)($|\/)/,
  main: /^(vue|vue-router|vue-i18n|element-plus|uplot)($|\/)/,
  renderer: /^(electron($|\/)|node:)/,
}

const layerOf = (folder) => serverLayers.findIndex((layer) => layer.includes(folder))

/** Why `from` may not import `to` (both split into path segments), or undefined. */
function refusal(from, to) {
  const [top, folder] = from
  const [otherTop, otherFolder] = to
  if (!(top in allowed)) return undefined
  // The one thing that is told to the program by its package: which version it is.
  if (from.join('/') === 'server/version.ts' && to.join('/') === 'package.json') return undefined
  if (top !== otherTop) {
    return allowed[top].includes(otherTop) ? undefined : `${top}/ may not import from ${otherTop}/.`
  }
  if (top !== 'server' || from.length < 3 || folder === otherFolder) return undefined
  if (to.length < 3) return `server/${folder}/ may not import what composes it.`
  if (serverAlone.includes(folder)) return `server/${folder}/ may import shared/ only.`
  if (serverAlone.includes(otherFolder)) return `server/${otherFolder}/ is a program of its own; nothing imports it.`
  if (serverEverywhere.includes(folder) || serverEverywhere.includes(otherFolder)) return undefined
  const [mine, other] = [layerOf(folder), layerOf(otherFolder)]
  if (mine === -1) return `server/${folder}/ has no place in the layers; give it one in eslint-rules/layers.js.`
  if (other === -1) return `server/${otherFolder}/ has no place in the layers; give it one in eslint-rules/layers.js.`
  return other < mine
    ? undefined
    : `server/${folder}/ may not import from server/${otherFolder}/, which is not below it.`
}

/** Holds the arrows between the folders. */
export const layers = {
  meta: { type: 'problem', schema: [], docs: { description: 'hold the arrows between the folders' } },
  create(context) {
    const segments = (path) => relative(context.cwd, path).split(sep)
    const from = segments(context.filename)
    const check = (node) => {
      const source = node.source?.value
      if (typeof source !== 'string') return
      const message = source.startsWith('.')
        ? refusal(from, segments(resolve(dirname(context.filename), source)))
        : source.startsWith('node:') && from[0] !== 'renderer' && from[0] !== 'shared'
          ? undefined
          : forbiddenPackages[from[0]]?.test(source)
            ? `${from[0]}/ may not import ${source}.`
            : undefined
      if (message) context.report({ node: node.source, message })
    }
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    }
  },
}
