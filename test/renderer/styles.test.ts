import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const renderer = join(import.meta.dirname, '../../renderer')
const tokens = 'kit/styles/tokens.css'
const sources = readdirSync(renderer, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(?:vue|css)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(renderer, path), 'utf8') }))

test('text has 14 px or more: smaller sizes are those of the type scale, for marks and code', () => {
  const small = sources
    .filter(({ path }) => path !== tokens)
    .flatMap(({ path, text }) =>
      [...text.matchAll(/font(?:-size)?: *(?:\d{3} )?(\d+(?:\.\d+)?)px/g)]
        .filter(([, size]) => Number(size) < 14)
        .map(([rule]) => `${path}: ${rule}`),
    )
  expect(small).toEqual([])
})

test('every custom property that a style uses is defined', () => {
  const defined = new Set(
    sources.flatMap(({ text }) => [...text.matchAll(/(--[\w-]+)['"]?\s*:/g)].map(([, name]) => name)),
  )
  const used = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => ({ path, name })),
  )
  expect(used.filter(({ name }) => !defined.has(name)).map(({ path, name }) => `${path}: ${name}`)).toEqual([])
})
