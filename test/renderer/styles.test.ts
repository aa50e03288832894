import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGenerator } from '@unocss/core'
import { expect, test } from 'vitest'
import utilities from '../../uno.config.ts'

const renderer = join(import.meta.dirname, '../../renderer')
const tokens = 'kit/styles/tokens.css'
const sources = readdirSync(renderer, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(?:vue|css)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(renderer, path), 'utf8') }))

test('text has 14 px or more: smaller sizes are those of the type scale, for marks and code', () => {
  const small = sources
    .filter(({ path }) => path !== tokens)
    .flatMap(({ path, text }) =>
      [...text.matchAll(/(?:font(?:-size)?: *(?:\d{3} )?|[\s"':]text-)(\d+(?:\.\d+)?)px/g)]
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
    [...text.matchAll(/(?:var\(--|[a-z]-\$(?=[a-z]))([\w-]+)/g)].map(([, name]) => ({ path, name: `--${name}` })),
  )
  expect(used.filter(({ name }) => !defined.has(name)).map(({ path, name }) => `${path}: ${name}`)).toEqual([])
})

test('no class of a sheet has the name of a utility that templates can use', async () => {
  const generator = await createGenerator(utilities)
  const classes = new Map(
    sources.flatMap(({ path, text }) =>
      stylesOf(path, text).flatMap((css) =>
        [...css.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = '']) => [name, path]),
      ),
    ),
  )
  const clashes: string[] = []
  for (const [name, path] of classes) if (await generator.parseToken(name)) clashes.push(`${path}: ${name}`)
  expect(clashes).toEqual([])
})

test('every utility of our own has the styles that it declares', async () => {
  const generator = await createGenerator(utilities)
  const named = [utilities.rules, utilities.shortcuts].flat().flatMap((rule) => {
    const [name, declared]: unknown[] = Array.isArray(rule) ? rule : []
    return typeof name === 'string' ? [{ name, declared }] : []
  })
  expect(named.length).toBeGreaterThan(10)
  for (const { name, declared } of named) {
    const { css } = await generator.generate(new Set([name]), { preflights: false })
    const styles = [declared].flat().flatMap((part) => (part instanceof Object ? Object.entries(part) : []))
    for (const [property, value] of styles) expect(css, name).toContain(`${property}:${String(value)};`)
  }
})

test('every class that a style selects is written somewhere as the class of an element', () => {
  const scripts = readdirSync(renderer, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(renderer, path), 'utf8'))
  const markup = sources.map(({ text }) => text.replaceAll(/<style[^>]*>[\s\S]*?<\/style>/g, ''))
  // Paths and keys of texts are no classes; `{ wide: … }` in a `:class` is.
  const words = [...markup, ...scripts].flatMap((text) =>
    [...text.matchAll(/:?class="([^"]*)"|'([^'/.\n]*)'/g)].flatMap(
      ([, classes = '', word = '']) => `${classes} ${word}`.match(/[a-zA-Z][\w-]*/g) ?? [],
    ),
  )
  const written = new Set(words)
  // Made by Element Plus, by Vue's transitions, and from the tone of a part.
  const made = /^(?:el|is|tone|fade)-/
  const lost = sources.flatMap(({ path, text }) =>
    stylesOf(path, text)
      .flatMap((css) => [...css.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(/\.([a-zA-Z][\w-]*)(?=[^{}]*\{)/g)])
      .flatMap(([, name = '']) => (written.has(name) || made.test(name) ? [] : [`${path}: ${name}`])),
  )
  expect([...new Set(lost)]).toEqual([])
})

/** Sheets in a file: all of it, or the `<style>` blocks of a component. */
const stylesOf = (path: string, text: string): string[] =>
  path.endsWith('.css') ? [text] : [...text.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)].map(([, css = '']) => css)
