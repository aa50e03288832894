const style = `
body { font: 14px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; }
th { font-weight: 600; } td.number, th.number { text-align: right; } code, pre { font: 12px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; margin: 0; }
article { border-left: 3px solid #b3261e; padding: 0 0 0 1rem; margin: 1rem 0; } article p { margin: 0; }
dl { display: grid; grid-template-columns: 6rem 1fr; margin: .25rem 0 0; } dt { color: #555; } dd { margin: 0; }
.verdict { font-size: 1.1rem; margin: 1rem 0; } .source, footer { color: #555; } footer { margin-top: 2rem; font-size: 12px; }
@media print { body { margin: 0; max-width: none; } tr, article { break-inside: avoid; } thead { display: table-header-group; } }
@page { margin: 15mm; }`

/** Returns a page to print that needs no other file. @param body HTML; texts in it are escaped */
export function htmlPage(language: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${html(title)}</title>
<style>${style}</style>
${body}
</html>
`
}

/** Returns cells of a table row with these texts. */
export function cells(texts: readonly string[]): string {
  return texts.map((text) => `<td>${html(text)}</td>`).join('')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes a text for HTML. */
export function html(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '')
}
