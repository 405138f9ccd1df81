/** The command's tables. */

import { compared } from '../state/store.ts';

export function Tables() {
  const tables = compared.value?.tables ?? [];
  if (tables.length === 0) return null;
  return (
    <section aria-labelledby="tables-title">
      <h2 id="tables-title">The table of the command</h2>
      {tables.map((table, at) => (
        <section
          class="scroll"
          key={table.heads.join()}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
          tabIndex={0}
          aria-label={`Table ${at + 1}`}
        >
          <table>
            <thead>
              <tr>
                {table.heads.map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.lines.map((cells) => (
                <tr key={cells.join()}>
                  {cells.map((cell, column) =>
                    column === 0 ? (
                      <th key={`${column}`} scope="row">
                        {cell}
                      </th>
                    ) : (
                      <td key={`${column}`}>{cell}</td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </section>
  );
}
