import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Plugin } from 'vite'
import type { Block, InlinePart } from '../../renderer/console/help/page-content.ts'
import { readPage } from './read-page.ts'

/**
 * Makes a module of each imported Markdown file: the parsed page, or with `?headings` its title and headings only. The browser needs no parser.
 * @param root folder of the project
 */
export function helpPages(root: string): Plugin {
  const textOf = (file: string): string | undefined => {
    try {
      return readFileSync(join(root, file), 'utf8')
    } catch {
      // A test of the docs reports broken links.
      return undefined
    }
  }
  return {
    name: 'roomdesk:help-pages',
    enforce: 'pre',
    transform: {
      filter: { id: /\.md(\?headings)?$/ },
      handler(text, id) {
        const [path = '', query] = id.split('?')
        const page = readPage(text, { file: relative(root, path).split(sep).join('/'), textOf })
        if (query === 'headings') {
          return { code: `export default ${JSON.stringify({ title: page.title, headings: page.headings })}`, map: null }
        }
        const pictures = new Set(picturesOf(page.blocks))
        const imports = [...pictures].map((src, index) => `import picture${index} from ${JSON.stringify(`${src}?url`)}`)
        const names = Object.fromEntries([...pictures].map((src, index) => [src, `picture${index}`]))
        const code = JSON.stringify(page).replaceAll(
          /("kind":"image","src":)("(?:[^"\\]|\\.)*")/g,
          (_, before: string, src: string) => `${before}${names[String(JSON.parse(src))] ?? src}`,
        )
        return { code: [...imports, `export default ${code}`].join('\n'), map: null }
      },
    },
  }
}

/** Relative paths of all pictures. */
function picturesOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    switch (block.kind) {
      case 'heading':
      case 'paragraph':
        return picturesIn(block.parts)
      case 'list':
        return block.items.flatMap(picturesOf)
      case 'table':
        return [block.head, ...block.rows].flatMap((row) => row.flatMap(picturesIn))
      case 'quote':
        return picturesOf(block.blocks)
      default:
        return []
    }
  })
}

function picturesIn(parts: readonly InlinePart[]): string[] {
  return parts.flatMap((part) => {
    if (typeof part === 'string' || part.kind === 'code' || part.kind === 'break') return []
    if (part.kind === 'image') return /^\.{0,2}\//.test(part.src) ? [part.src] : []
    return picturesIn(part.parts)
  })
}
